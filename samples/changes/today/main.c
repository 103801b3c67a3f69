#include <stdio.h>

#include "numbers.h"
#include "report.h"

int main(void)
{
    int a, b;

    printf("from? ");
    if (scanf("%d", &a) != 1)
        return 1;

    printf("to? ");
    if (scanf("%d", &b) != 1)
        return 1;

    report("sum", sum_of(a, b));
    report("mul", product_of(a, b));
    return 0;
}
