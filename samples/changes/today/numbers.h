#ifndef NUMBERS_H
#define NUMBERS_H

/* The sum of the numbers from a to b. */
int sum_of(int a, int b);

/* The product of the numbers from a to b, which may be large. */
long product_of(int a, int b);

/* How many numbers there are from a to b. */
#define COUNT(a, b) ((b) - (a))

#endif
