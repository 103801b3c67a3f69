#include <stdio.h>

int calls;

int power(int base, int exponent)
{
    calls = calls + 1;
    if (exponent == 0)
        return 1;
    int half = power(base, exponent / 2);
    if (exponent % 2 == 0)
        return half * half;
    return half * half * base;
}

int main(void)
{
    int result = power(3, 5);
    printf("result %d\n", result);
    printf("calls %d\n", calls);
    return 0;
}
