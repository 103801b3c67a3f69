/* Statistics of numbers: count, least, greatest, sum, median, and how often the commonest number occurs. */
#include <stdio.h>

#define MOST 50

static int value[MOST], count;

static void read_all(void) {
    int next;
    while (count < MOST && scanf("%d", &next) == 1)
        value[count++] = next;
}

static void sort(void) {
    for (int i = 1; i < count; i++) {
        int moved = value[i], k = i;
        while (k > 0 && value[k - 1] > moved) {
            value[k] = value[k - 1];
            k--;
        }
        value[k] = moved;
    }
}

static int commonest(void) {
    int best = 0, run = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && value[i] == value[i - 1])
            run++;
        else
            run = 1;
        if (run > best)
            best = run;
    }
    return best;
}

int main(void) {
    read_all();
    if (count == 0) {
        printf("nothing\n");
        return 0;
    }
    int least = value[0], greatest = 0, sum = 0;
    for (int i = 0; i < count; i++) {
        if (value[i] < least)
            least = value[i];
        if (value[i] > greatest)
            greatest = value[i];
        sum += value[i];
    }
    sort();
    int median = value[count / 2];
    if (count % 2 == 0)
        median = (value[count / 2 - 1] + value[count / 2]) / 2;
    printf("count %d least %d greatest %d\n", count, least, greatest);
    printf("mean %d\n", sum / count);
    printf("sum %d median %d commonest %d times\n", sum, median, commonest());
    return 0;
}
