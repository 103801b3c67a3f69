// Runs a program in a hardened container, simulated: these system calls fail with EPERM.
// hardened CALL[,CALL...] PROGRAM [ARGUMENT...]
//
// Or on a machine that has no room for processes: crowded refuses each thread two of three, with EAGAIN and
// with ENOMEM; full=N refuses all but the first N. Or on an older kernel: landlock=N is version N of Landlock.
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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sock_filter code[256];
static unsigned length;
static void add(struct sock_filter step) { code[length++] = step; }

static void answer(int call, unsigned action) {
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void deny(int call) { answer(call, SECCOMP_RET_ERRNO | EPERM); }

// How many processes and threads there is room for; -1: for one of three.
static long room = -2;

// How often each thread of a crowded machine was answered, of its three. One count for all would let
// threads that ask by turns take the room from each other for as long as they like.
static unsigned char turns[1 << 22];

static void notify(void) {
    int calls[] = { SYS_clone, SYS_clone3, SYS_fork, SYS_vfork };
    for (int i = 0; i < 4; i++) answer(calls[i], SECCOMP_RET_USER_NOTIF);
}

// The version of Landlock that the kernel tells; 0: its own.
static int version = 0;

// Who asks for the version gives no rules.
static void notify_of_version(void) {
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 4));
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])));
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 1));
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
}

static void permit(struct seccomp_notif_resp *answer) {
    answer->error = 0;
    answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
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
        if (poll(&waits, 1, -1) < 1 || !(waits.revents & POLLIN)) _exit(0);
        struct seccomp_notif asked = { 0 };
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked)) continue;
        struct seccomp_notif_resp answer = { .id = asked.id, .error = -EAGAIN };
        if (asked.data.nr == SYS_landlock_create_ruleset) {
            answer.error = 0;
            answer.val = version;
        } else if (room < 0) {
            unsigned char *turn = &turns[asked.pid % sizeof turns];
            if (*turn == 1) answer.error = -ENOMEM;
            if (*turn == 2) permit(&answer);
            *turn = (*turn + 1) % 3;
        } else if (room) {
            room--;
            permit(&answer);
        }
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int line[2];
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (char *word = strtok(argv[1], ","); word; word = strtok(NULL, ",")) {
        if (!strcmp(word, "ptrace")) deny(SYS_ptrace);
        else if (!strcmp(word, "personality")) deny(SYS_personality);
        else if (!strcmp(word, "landlock")) deny(SYS_landlock_create_ruleset);
        else if (!strcmp(word, "seccomp")) deny(SYS_seccomp);
        else if (!strcmp(word, "mount")) deny(SYS_mount);
        else if (!strcmp(word, "none")) continue;
        else if (!strcmp(word, "namespaces")) {
            deny(SYS_unshare); deny(SYS_setns);
            add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4));
            add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)));
            add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER | CLONE_NEWNS, 0, 1));
            add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
            add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
        } else if (!strcmp(word, "crowded")) { room = -1; notify(); }
        else if (!strncmp(word, "landlock=", 9)) { version = atoi(word + 9); notify_of_version(); }
        else if (!strncmp(word, "full=", 5)) { room = atol(word + 5); notify(); }
        else { fprintf(stderr, "hardened: what is %s?\n", word); return 2; }
    }
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    if (room > -2 || version) {
        // Nobody's child, with the same descriptors: that of the filter as well.
        if (pipe2(line, O_CLOEXEC)) return 1;
        pid_t between = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
        if (!between && syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0)) _exit(0);
        if (!between) supervise(line[0]);
        waitpid(between, NULL, 0);
    }
    struct sock_fprog program = { length, code };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int flags = room > -2 || version ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
    int listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (listener < 0) {
        perror("hardened: seccomp");
        return 1;
    }
    if (room > -2 || version) write(line[1], &listener, sizeof listener);
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
