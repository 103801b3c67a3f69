// Runs a program and makes one system call fail, of any of its processes: faults WHO CALL ERROR NUMBER COMMAND...
// WHO is main (the first thread), thread (any other one of the same process), fork (a process that the program has
// forked, as long as it is no other program), or agent (code that the program has put into another one). CALL and
// ERROR are numbers; the NUMBERth such call by such a one fails.
// faults count FILE COMMAND...: writes into the file how many calls were made: who, which one, how often.
//
// A filter asks a supervisor, which is nobody's child; what that lets pass counts more than what a tracer is asked
// for by other filters, so that the tracer hears nothing of such calls.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *names[] = { "main", "thread", "fork", "agent", "other" };
enum { MAIN, THREAD, FORK, AGENT, OTHER };
static unsigned long counts[5][512];
static long wanted = -1, number;
static int who, error;
static const char *file;
static pid_t first;
static struct stat itself;

static pid_t process_of(pid_t thread) {
    char path[64], line[256]; pid_t found = thread;
    sprintf(path, "/proc/%d/status", thread);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status)) if (sscanf(line, "Tgid: %d", &found) == 1) break;
    if (status) fclose(status);
    return found;
}

// Whether the call comes out of what was put there, or out of the program's own file, which makes none itself.
static int is_agent(pid_t thread, unsigned long at) {
    char path[64], line[1024]; unsigned long from, to; int found = 0;
    sprintf(path, "/proc/%d/maps", thread);
    FILE *maps = fopen(path, "r");
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && at > from && at <= to) { found = strstr(line, "memfd:") || !strstr(line, ".so"); break; }
    if (maps) fclose(maps);
    return found;
}

static int role(const struct seccomp_notif *asked) {
    char path[64]; struct stat program;
    sprintf(path, "/proc/%d/exe", asked->pid);
    if (stat(path, &program) || program.st_ino != itself.st_ino || program.st_dev != itself.st_dev)
        return is_agent(asked->pid, asked->data.instruction_pointer) ? AGENT : OTHER;
    if (!first) first = asked->pid;
    if (asked->pid == first) return MAIN;
    return process_of(asked->pid) == first ? THREAD : FORK;
}

static void write_counts(void) {
    char temporary[4096];
    snprintf(temporary, sizeof temporary, "%s.new", file);
    FILE *out = fopen(temporary, "w");
    for (int i = 0; i < OTHER; i++)
        for (int call = 0; call < 512; call++) if (counts[i][call]) fprintf(out, "%s %d %lu\n", names[i], call, counts[i][call]);
    fclose(out);
    rename(temporary, file);
}

// Answers for as long as somebody is under the filter, whose descriptor comes through the pipe.
static void supervise(int pipe) {
    int listener;
    setsid();
    if (read(pipe, &listener, sizeof listener) != sizeof listener) _exit(1);
    unshare(CLONE_FILES);
    for (int other = 0; other < 1024; other++) if (other != listener) close(other);
    for (;;) {
        struct pollfd waits = { listener, POLLIN };
        if (poll(&waits, 1, -1) < 1 || !(waits.revents & POLLIN)) break;
        struct seccomp_notif asked = { 0 };
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked)) continue;
        struct seccomp_notif_resp answer = { .id = asked.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
        int by = role(&asked);
        unsigned long count = ++counts[by][asked.data.nr & 511];
        if (!file && by == who && count == number) { answer.flags = 0; answer.error = -error; }
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    if (file) write_counts();
    _exit(0);
}

int main(int argc, char **argv) {
    int line[2], at = 5;
    if (argc < 4) return 2;
    if (strcmp(argv[1], "count") == 0) { file = argv[2]; at = 3; }
    else {
        if (argc < 6) return 2;
        while (who < OTHER && strcmp(names[who], argv[1])) who++;
        wanted = atol(argv[2]); error = atoi(argv[3]); number = atol(argv[4]);
    }
    if (stat(argv[at], &itself)) { perror(argv[at]); return 1; }
    // Nobody's child, with the same descriptors: that of the filter as well.
    if (pipe2(line, O_CLOEXEC)) return 1;
    pid_t between = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
    if (!between && syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0)) _exit(0);
    if (!between) supervise(line[0]);
    waitpid(between, NULL, 0);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)wanted, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        // Who tells the supervisor of the filter cannot wait for it.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, file ? SYS_write : (unsigned)-1, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, file ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (listener < 0) { perror("faults: seccomp"); return 1; }
    // By another call than the one that may be asked about.
    struct { int value; } word = { listener };
    if (wanted == SYS_write) { struct iovec { void *base; size_t length; } part = { &word, sizeof word }; syscall(SYS_writev, line[1], &part, 1); }
    else write(line[1], &word, sizeof word);
    execv(argv[at], argv + at);
    perror(argv[at]);
    return 127;
}
