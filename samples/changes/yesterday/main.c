#include <stdio.h>

#include "numbers.h"

int main(void)
{
    int a, b;

    printf("a? ");
    if (scanf("%d", &a) != 1)
        return 1;

    printf("b? ");
    if (scanf("%d", &b) != 1)
        return 1;

    printf("sum = %d\n", sum_of(a, b));
    printf("mul = %d\n", product_of(a, b));
    return 0;
}
