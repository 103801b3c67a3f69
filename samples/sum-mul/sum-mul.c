#include <stdio.h>

int main(void)
{
    int a, b, sum, mul;
    sum = 0;
    mul = 1;
    printf("a? "); scanf("%d", &a);
    printf("b? "); scanf("%d", &b);
    while (a <= b) {
        sum = sum + a;
        mul = mul * a;
        a = a + 1;
    }
    printf("sum = %d\n", sum);
    printf("mul = %d\n", mul);
    return 0;
}
