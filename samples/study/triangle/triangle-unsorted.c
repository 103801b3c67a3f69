/* Say what kind of triangle three lengths make. */
#include <stdio.h>

static void sort(int side[3]) {
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 1 - i; k++)
            if (side[k] > side[k + 1]) {
                int other = side[k];
                side[k] = side[k + 1];
                side[k + 1] = other;
            }
}

static const char *kind(const int side[3]) {
    if (side[0] <= 0)
        return "no lengths";
    if (side[0] + side[1] <= side[2])
        return "no triangle";
    if (side[0] == side[2])
        return "equilateral";
    if (side[0] == side[1] || side[1] == side[2])
        return "isosceles";
    return "scalene";
}

int main(void) {
    int side[3];
    while (scanf("%d %d %d", &side[0], &side[1], &side[2]) == 3) {
        sort(side);
        int right = side[0] * side[0] + side[1] * side[1] == side[2] * side[2];
        printf("%s%s\n", kind(side), right ? ", right" : "");
    }
    return 0;
}
