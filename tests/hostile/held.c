// Processes that write, send and wait while another one opens files: they are held while somebody decides about that,
// and must not notice. Prints who has: whose transfers were cut short, or whose waits were interrupted.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile struct { int is_over, noticed; long sum; } *shared;
static char block[1 << 18];
static int writer(int way, int to) {
    int noticed = 0;
    for (int i = 0; !shared->is_over; i++) {
        struct iovec parts[3] = { { block, 1000 }, { block + 1000, 100000 }, { block + 101000, sizeof block - 101000 } };
        ssize_t n = way == 0 ? write(to, block, sizeof block) : way == 1 ? writev(to, parts, 3) : send(to, block, sizeof block, 0);
        noticed += n != sizeof block;
    }
    return noticed;
}
static int waiter(int way) {
    int noticed = 0, e = epoll_create1(0), ends[2];
    struct epoll_event one = { .events = EPOLLIN };
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    epoll_ctl(e, EPOLL_CTL_ADD, ends[0], &one);
    sigset_t queued; sigemptyset(&queued); sigaddset(&queued, SIGRTMIN); sigprocmask(SIG_BLOCK, &queued, NULL);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 50; i++) { if (way) sigqueue(getppid(), SIGRTMIN, (union sigval){ 0 }); else write(ends[1], "x", 1); for (volatile int j = 0; j < 20000; j++) {} }
        _exit(0);
    }
    char c;
    for (int i = 0; i < 50; i++)
        if (way) noticed += sigwaitinfo(&queued, NULL) != SIGRTMIN;
        else { noticed += epoll_wait(e, &one, 1, -1) != 1; noticed += read(ends[0], &c, 1) != 1; }
    waitpid(child, NULL, 0);
    return noticed;
}
static int reader(int from) {
    static char in[1 << 18];
    long sum = 0; ssize_t n;
    while ((n = read(from, in, sizeof in)) > 0) sum += n;
    return sum % sizeof in != 0;
}
static int all(void) {
    int noticed = 0; pid_t others[8], busy[5]; int count = 0;
    shared = mmap(NULL, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int way = 0; way < 3; way++) {
        int ends[2];
        if (way < 2) pipe(ends); else socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
        if ((others[count++] = fork()) == 0) { close(ends[way < 2 ? 0 : 1]); _exit(writer(way, ends[way < 2 ? 1 : 0])); }
        if ((others[count++] = fork()) == 0) { close(ends[way < 2 ? 1 : 0]); _exit(reader(ends[way < 2 ? 0 : 1])); }
        close(ends[0]); close(ends[1]);
    }
    for (int way = 0; way < 2; way++) if ((others[count++] = fork()) == 0) _exit(waiter(way));
    for (int i = 0; i < 200; i++) close(open("/etc/passwd", O_RDONLY));
    shared->is_over = 1;
    for (int i = 0; i < count; i++) { int status; waitpid(others[i], &status, 0); if (WEXITSTATUS(status)) printf("noticed by %d: %d\n", i, WEXITSTATUS(status)); }
    return 0;
}
int main(void) { int done = 0;
    done = all();
    printf("done\n");
    return 0;
}
