// Runs a program in a hardened container, simulated: these system calls fail with EPERM.
// hardened CALL[,CALL...] PROGRAM [ARGUMENT...]
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sock_filter code[256];
static unsigned length;
static void add(struct sock_filter step) { code[length++] = step; }

static void deny(int call) {
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    for (char *word = strtok(argv[1], ","); word; word = strtok(NULL, ",")) {
        if (!strcmp(word, "ptrace")) deny(SYS_ptrace);
        else if (!strcmp(word, "personality")) deny(SYS_personality);
        else if (!strcmp(word, "landlock")) deny(SYS_landlock_create_ruleset);
        else if (!strcmp(word, "seccomp")) deny(SYS_seccomp);
        else if (!strcmp(word, "mount")) deny(SYS_mount);
        else if (!strcmp(word, "namespaces")) {
            deny(SYS_unshare); deny(SYS_setns);
            add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4));
            add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)));
            add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER | CLONE_NEWNS, 0, 1));
            add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
            add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
        } else { fprintf(stderr, "hardened: what is %s?\n", word); return 2; }
    }
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    struct sock_fprog program = { length, code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("hardened: seccomp");
        return 1;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
