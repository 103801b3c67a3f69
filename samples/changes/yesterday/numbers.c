#include "numbers.h"

int sum_of(int a, int b)
{
    int sum = 0;

    while (a <= b) {
        sum = sum + a;
        a = a + 1;
    }
    return sum;
}

int product_of(int a, int b)
{
    int product = 1;

    while (a <= b) {
        product = product * a;
        a = a + 1;
    }
    return product;
}
