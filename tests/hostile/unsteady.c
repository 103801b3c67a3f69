// A library to be loaded first: the time of day is set back and forth whenever somebody looks at it.
// What its program starts is left alone.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t step(void) {
    static const time_t steps[] = { -400, 400, -1, 1, -36500, 3650 };
    static _Atomic unsigned looks;
    return steps[looks++ % 6] * 86400;
}

__attribute__((constructor)) static void leave_others_alone(void) { unsetenv("LD_PRELOAD"); }

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, clock, now);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += step();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int result = syscall(SYS_gettimeofday, now, zone);
    if (!result) now->tv_sec += step();
    return result;
}

time_t time(time_t *where) {
    time_t now = syscall(SYS_time, NULL) + step();
    if (where) *where = now;
    return now;
}
