/* Evaluate expressions of numbers, + - * / and parentheses, one a line. */
#include <ctype.h>
#include <stdio.h>

static const char *at;
static int failed;

static int sum(void);

static void skip(void) {
    while (*at == ' ')
        at++;
}

static int number(void) {
    int result = 0;
    if (!isdigit(*at))
        failed = 1;
    while (isdigit(*at))
        result = result * 10 + (*at++ - '0');
    return result;
}

static int factor(void) {
    skip();
    int sign = 1;
    if (*at == '-') {
        sign = -1;
        at++;
    }
    if (*at != '(')
        return sign * number();
    at++;
    int result = sum();
    skip();
    if (*at == ')')
        at++;
    else
        failed = 1;
    return sign * result;
}

static int product(void) {
    int result = factor();
    for (skip(); *at == '*' || *at == '/'; skip()) {
        char sign = *at++;
        int next = factor();
        if (sign == '*')
            result *= next;
        else if (next == 0)
            failed = 1;
        else
            result /= next;
    }
    return result;
}

static int sum(void) {
    int result = product();
    for (skip(); *at == '+' || *at == '-'; skip()) {
        char sign = *at++;
        int next = product();
        if (sign == '+')
            result += next;
        else
            result -= next;
    }
    return result;
}

int main(void) {
    char line[100];
    while (fgets(line, sizeof line, stdin)) {
        at = line;
        failed = 0;
        int result = sum();
        if (failed || *at != '\n')
            printf("error\n");
        else
            printf("%d\n", result);
    }
    return 0;
}
