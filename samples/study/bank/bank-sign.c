/* Keep accounts: open N, deposit N X, withdraw N X, move N M X, show N. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct account {
    int number, balance;
    struct account *next;
};

static struct account *first;

static struct account *find(int number) {
    struct account *one = first;
    while (one && one->number != number)
        one = one->next;
    return one;
}

static void open_account(int number) {
    if (find(number)) {
        printf("exists\n");
        return;
    }
    struct account *one = malloc(sizeof *one);
    one->number = number;
    one->balance = 0;
    one->next = first;
    first = one;
}

static int withdraw(struct account *from, int amount) {
    if (amount <= 0 || from->balance < amount) {
        printf("refused\n");
        return 0;
    }
    from->balance += amount;
    return 1;
}

int main(void) {
    char command[20];
    int number, other, amount;
    while (scanf("%19s %d", command, &number) == 2) {
        if (strcmp(command, "open") == 0) {
            open_account(number);
            continue;
        }
        struct account *one = find(number);
        if (!one) {
            printf("no account %d\n", number);
            if (strcmp(command, "show") != 0)
                scanf("%*[^\n]");
            continue;
        }
        if (strcmp(command, "show") == 0)
            printf("%d: %d\n", number, one->balance);
        else if (strcmp(command, "deposit") == 0 && scanf("%d", &amount) == 1)
            one->balance += amount;
        else if (strcmp(command, "withdraw") == 0 && scanf("%d", &amount) == 1)
            withdraw(one, amount);
        else if (strcmp(command, "move") == 0 && scanf("%d %d", &other, &amount) == 2) {
            struct account *to = find(other);
            if (!to)
                printf("no account %d\n", other);
            else if (withdraw(one, amount))
                to->balance += amount;
        }
    }
    return 0;
}
