/* A program that asks nothing of anybody: no library, no header. */
struct point { int x, y; };
static int table[4] = { 3, 1, 2, 0 };

static int choose(int n) {
    switch (n) {
    case 0: return 7;
    case 1: return 11;
    case 2: n = 13; break;
    case 3: n *= 2; break;
    case 4: n = table[n & 3]; break;
    case 5: n--;
    case 6: return n;
    default: n = -n;
    }
    return n;
}

static inline __attribute__((always_inline)) int twice(int n) {
    int doubled = n + n;
    return doubled;
}

int sum(struct point *points, int count) {
    int total = 0;
    for (int i = 0; i < count; i++) {
        if (points[i].x > points[i].y)
            total += choose(points[i].x);
        else
            total += twice(points[i].y);
    }
    return total;
}

void _start(void) {
    struct point points[3] = { { 1, 2 }, { 5, 4 }, { 6, 0 } };
    int result = sum(points, 3);
    __asm__ volatile("syscall" : : "a"(60), "D"(result & 63) : "rcx", "r11", "memory");
    for (;;)
        ;
}
