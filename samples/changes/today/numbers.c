/* Sums and products of numbers. */

#include "numbers.h"

int sum_of(int a, int b)
{
    int sum = 0;

    while (COUNT(a, b) > 0) {
        sum = sum + a;
        a = a + 1;
    }
    return sum;
}

long product_of(int a, int b)
{
    long product = 1;

    while (a <= b) {
        product = product * a;
        a = a + 1;
    }
    return product;
}
