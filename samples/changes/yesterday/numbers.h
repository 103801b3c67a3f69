#ifndef NUMBERS_H
#define NUMBERS_H

/* The numbers from a to b, added. */
int sum_of(int a, int b);

/* The numbers from a to b, multiplied. */
int product_of(int a, int b);

#endif
