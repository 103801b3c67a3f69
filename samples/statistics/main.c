/* Reads numbers and prints statistics of them: the sample of the README. One line of the output is wrong. */
#include <stdio.h>
#include "statistics.h"

int main(void)
{   struct list list = { 0 };
    while (list.count < CAPACITY && scanf("%d", &list.values[list.count]) == 1)
        list.count++;
    printf("count %d\n", list.count);
    printf("sum %d\n", sum(&list));
    printf("largest %d\n", largest(&list));
    printf("smallest %d\n", smallest(&list));
    printf("mean %d\n", mean(&list));
    return 0;
}
