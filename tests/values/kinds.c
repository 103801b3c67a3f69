// Values of each kind that C has, one statement a line; all of them are printed in the end.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum colour { RED, GREEN = 5, BLUE };
struct point { int x; int y; };
struct node { int value; struct node *next; };
struct line { struct point from, to; char name[8]; };
union word { int number; unsigned char bytes[4]; };
struct flags { unsigned low : 3; int high : 5; };

static long total = 7;
const char *greeting = "hello";
_Thread_local int own = 3;

static int twice(int n) {
    int result = n * 2;
    return result;
}

static void set(int *target, int value) {
    *target = value;
}

int main(void) {
    char letter = 'A';
    signed char small = -5;
    unsigned char byte = 200;
    short little = -300;
    unsigned int count = 4000000000u;
    long long big = -9000000000LL;
    unsigned long wide = 18000000000000000000ul;
    bool yes = true;
    float ratio = 0.1f;
    double third = 1.0 / 3;
    double huge = 1e300;
    long double pi = 3.25L;
    enum colour colour = BLUE;
    struct point point = { 3, 4 };
    struct line line = { { 1, 2 }, { 3, 4 }, "edge" };
    union word word = { 513 };
    struct flags flags = { 6, -3 };
    int list[5] = { 1, 2, 3, 4, 5 };
    int table[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    char text[12] = "a \"b\"\n\001";
    const char *message = greeting;
    int *pointer = &list[2];
    struct node tail = { 2, NULL };
    struct node head = { 1, &tail };
    struct node *node = &head;
    int (*function)(int) = twice;
    node->next->value = 9;
    list[1] = list[0] + *pointer;
    point.y = point.x + list[1];
    total = total + function(point.y);
    struct point copy = point;
    strcpy(text, "copied");
    set(&copy.x, 77);
    node = node->next;
    letter++;
    count -= 5;
    third *= 2;
    own += list[1];
    flags.high = flags.low - 4;
    int *heap = malloc(3 * sizeof *heap);
    heap[2] = own;
    yes = ratio > third;
    printf("%c %d %d %d %u %lld %lu %d\n", letter, small, byte, little, count, big, wide, yes);
    printf("%g %g %g %Lg %d %d %d\n", ratio, third, huge, pi, colour, point.y, copy.x + copy.y);
    printf("%d %d %d %s %d %d\n", line.from.x, line.to.y, line.name[1], line.name, word.bytes[1], flags.high);
    printf("%d %d %s %s %d %ld %d %d\n", list[1], table[1][2], text, message, node->value, total, own, heap[2]);
    return 0;
}
