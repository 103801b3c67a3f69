// Somebody whom attacks of `doors.c` and `kinds.c` are after: listens at sockets, holds named pipes, a terminal, a
// message queue and IPC objects, and has a memory, a priority, limits and a name. witness FOLDER NAME [mount]: prints
// the paths of the terminal and of the queue; its number, its port and those of its IPC objects; and where its memory
// lies. Waits for the end of its input, and prints what has happened to any of them meanwhile: nothing, if all is well.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

static void need(const char *what, long result) {
    if (result >= 0) return;
    perror(what);
    exit(1);
}
static int listener(const char *name, int type, int is_abstract) {
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int length = offsetof(struct sockaddr_un, sun_path) + is_abstract;
    strcpy(a.sun_path + is_abstract, name);
    int s = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
    need(name, bind(s, (void *)&a, length + strlen(name)));
    if (type != SOCK_DGRAM) need(name, listen(s, 4));
    if (!is_abstract) chmod(name, 0666);
    return s;
}
static int named_pipe(const char *name) {
    need(name, mkfifo(name, 0666));
    int file = open(name, O_RDWR | O_NONBLOCK);
    need(name, file);
    return file;
}
static void expect_none(const char *what, int result) {
    if (result >= 0 || errno != EAGAIN) printf("%s: somebody was there\n", what);
}
static void expect_text(const char *what, int file, const char *text) {
    char found[256] = "";
    ssize_t length = read(file, found, sizeof found - 1);
    if (length != (ssize_t)strlen(text) || memcmp(found, text, length)) printf("%s: changed\n", what);
}

// All of the internet that leads to this machine: the same port for each.
static int nets[4], port;
static void listen_to_networks(void) {
    struct sockaddr_in four = { .sin_family = AF_INET };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT };
    socklen_t length = sizeof four; int yes = 1;
    for (int i = 0; i < 4; i++) {
        nets[i] = socket(i < 2 ? AF_INET : AF_INET6, (i % 2 ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK, 0);
        if (i > 1) setsockopt(nets[i], IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
        int is_bound = i < 2 ? bind(nets[i], (void *)&four, sizeof four) : bind(nets[i], (void *)&six, sizeof six);
        // The port may be taken for another protocol, and there may be no second internet.
        if (i == 0) { need("port", is_bound); getsockname(nets[0], (void *)&four, &length); six.sin6_port = four.sin_port; port = ntohs(four.sin_port); }
        if (i % 2 == 0) listen(nets[i], 4);
    }
}
static void expect_silence(void) {
    char some[64];
    for (int i = 0; i < 4; i += 2) if (accept(nets[i], NULL, NULL) >= 0) printf("network: somebody has called\n");
    for (int i = 1; i < 4; i += 2) if (recv(nets[i], some, sizeof some, 0) >= 0) printf("network: somebody has written\n");
}

static volatile sig_atomic_t signals;
static void count(int signal) { (void)signal; signals++; }

// What can be said of this process, line by line.
static char memory[4096] __attribute__((aligned(4096))) = "precious";
static void tell_of_itself(char *text, size_t size) {
    struct rlimit limit; cpu_set_t set; char name[16], part[512] = ""; struct timex clock = { 0 };
    const char *files[] = { "oom_score_adj", "coredump_filter", "autogroup", "timerslack_ns", "loginuid" };
    const char *settings[] = { "kernel/printk_ratelimit", "vm/dirty_ratio", "kernel/hostname", "kernel/domainname" };
    getrlimit(RLIMIT_NOFILE, &limit); sched_getaffinity(0, sizeof set, &set); prctl(PR_GET_NAME, name); adjtimex(&clock);
    int length = snprintf(text, size, "memory %s\nlimit %ld\nprocessors %d\nname %s\nnice %d\nscheduling %d\nio %ld\ngroup %d\nclock %ld\n",
        memory, (long)limit.rlim_cur, CPU_COUNT(&set), name, getpriority(PRIO_PROCESS, 0), sched_getscheduler(0),
        syscall(SYS_ioprio_get, 1, 0), getpgrp() == getpid(), clock.tick);
    for (int i = 0; i < 9; i++) {
        snprintf(part, sizeof part, i < 5 ? "/proc/self/%s" : "/proc/sys/%s", i < 5 ? files[i] : settings[i - 5]);
        int file = open(part, O_RDONLY); ssize_t read_now = read(file, part, sizeof part - 1);
        close(file); part[read_now > 0 ? read_now : 0] = 0;
        length += snprintf(text + length, size - length, "%s %s", i < 5 ? files[i] : settings[i - 5], part);
    }
}

int main(int argc, char **argv) {
    char some[256], name[256], self[4096] = "", later_self[4096] = "";
    struct termios before, after;
    struct winsize size = { 24, 80 }, later;
    need("folder", chdir(argv[1]));
    int stream = listener("stream", SOCK_STREAM, 0), packets = listener("packets", SOCK_SEQPACKET, 0);
    int letters = listener("letters", SOCK_DGRAM, 0), hidden = listener(argv[2], SOCK_STREAM, 1);
    int in = named_pipe("in"), out = named_pipe("out");
    need("in", write(in, "typed", 5));
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    need("terminal", master);
    grantpt(master);
    unlockpt(master);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_NONBLOCK);
    need("terminal", slave);
    tcgetattr(slave, &before);
    ioctl(slave, TIOCSWINSZ, &size);
    need("terminal", write(master, "typed\n", 6));
    snprintf(name, sizeof name, "/%s", argv[2]);
    struct mq_attr attributes = { .mq_maxmsg = 4, .mq_msgsize = 64 };
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_NONBLOCK, 0600, &attributes);
    need("queue", queue);
    need("queue", mq_send(queue, "letter", 6, 1));
    int is_mounted = argc > 3 && mkdir("queues", 0700) == 0 && mount("queues", "queues", "mqueue", 0, NULL) == 0;
    setpgid(0, 0);
    for (int s = 1; s < SIGRTMAX; s++) if (s != SIGTERM && s != SIGCHLD) signal(s, count);
    listen_to_networks();
    int shm = shmget(IPC_PRIVATE, 4096, 0600), sem = semget(IPC_PRIVATE, 1, 0600), msg = msgget(IPC_PRIVATE, 0600);
    char *shared = shmat(shm, NULL, 0);
    need("shared memory", shared == (char *)-1 ? -1 : 0);
    strcpy(shared, "precious");
    shmctl(shm, IPC_RMID, NULL);
    need("semaphore", semctl(sem, 0, SETVAL, 1));
    struct { long type; char text[8]; } letter = { 1, "letter" };
    need("message", msgsnd(msg, &letter, 6, 0));
    setxattr("file", "user.kept", "x", 1, 0);
    tell_of_itself(self, sizeof self);
    printf("%s\n", ptsname(master));
    if (is_mounted) printf("%s/queues%s\n", argv[1], name); else printf("/dev/mqueue%s\n", name);
    printf("%d %d %d %d %d\n%lx\n", getpid(), port, shm, sem, msg, (unsigned long)memory);
    fflush(stdout);
    while (read(0, some, sizeof some) > 0) {}

    expect_none("stream", accept(stream, NULL, NULL));
    expect_none("packets", accept(packets, NULL, NULL));
    expect_none("abstract", accept(hidden, NULL, NULL));
    expect_none("letters", recv(letters, some, sizeof some, 0));
    expect_none("out", read(out, some, sizeof some));
    expect_text("in", in, "typed");
    tcgetattr(slave, &after);
    ioctl(slave, TIOCGWINSZ, &later);
    if (before.c_lflag != after.c_lflag) printf("terminal: its settings are changed\n");
    if (later.ws_row != 24 || later.ws_col != 80) printf("terminal: its size is changed\n");
    expect_text("terminal", slave, "typed\n");
    if (mq_receive(queue, some, sizeof some, NULL) != 6) printf("queue: changed\n");
    expect_none("queue", mq_receive(queue, some, sizeof some, NULL));
    if (mq_unlink(name)) printf("queue: gone\n");
    if (is_mounted) umount2("queues", MNT_DETACH);
    if (access("/dev/loop77", F_OK) == 0) printf("loop device: added\n");
    expect_silence();
    if (signals) printf("process: signalled\n");
    tell_of_itself(later_self, sizeof later_self);
    if (strcmp(self, later_self)) printf("process: it was\n%s, and is\n%s", self, later_self);
    struct shmid_ds state;
    if (strcmp(shared, "precious") || shmctl(shm, IPC_STAT, &state) || state.shm_nattch != 1) printf("shared memory: changed\n");
    if (semctl(sem, 0, GETVAL) != 1) printf("semaphore: changed\n");
    if (msgrcv(msg, &letter, sizeof letter.text, 0, IPC_NOWAIT) != 6) printf("message: gone\n");
    if (msgrcv(msg, &letter, sizeof letter.text, 0, IPC_NOWAIT) >= 0) printf("message: another one\n");
    semctl(sem, 0, IPC_RMID);
    msgctl(msg, IPC_RMID, NULL);
    return 0;
}
