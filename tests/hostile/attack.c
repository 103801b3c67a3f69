// What partial runs could do: one kind of harm for each name. Only `main` is traced; without its second
// statement, `guard = ...`, the attack is made. With a third argument it is made in the recorded run.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static int is(const char *kind, const char *name) { return strcmp(kind, name) == 0; }
static void forever(void) { for (;;) pause(); }
static void *spin(void *unused) { for (volatile long i = 0;; i++); return unused; }
static void *in_thread_exec(void *unused) { execl("/bin/sleep", "sleep", "1000", NULL); return unused; }
static void *in_thread_exit(void *unused) { syscall(SYS_exit_group, 7); return unused; }
static void trapped(int signal) { (void)signal; write(1, "trapped\n", 8); }
static int deep(int n) { volatile char frame[4096]; frame[0] = n; return deep(n + 1) + frame[0]; }
static void put(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file >= 0) { write(file, text, strlen(text)); close(file); }
}
static void flood(int file) {
    static char block[1 << 20];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 10240; i++)
        if (write(file, block, sizeof block) < 0) return;
}
static struct sockaddr_in local(int port) {
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
}

static void attack(const char *kind, int guard, int port) {
    if (guard || is(kind, "ok")) return;
    if (is(kind, "hang")) forever();
    if (is(kind, "spin")) spin(NULL);
    if (is(kind, "deaf-sleep")) { for (int s = 1; s < 32; s++) signal(s, SIG_IGN); for (;;) sleep(1000); }
    if (is(kind, "fork-bomb")) for (;;) fork();
    if (is(kind, "vfork-hang")) { if (vfork() == 0) forever(); }
    if (is(kind, "daemon")) { if (fork() == 0) { setsid(); if (fork() == 0) forever(); _exit(0); } }
    if (is(kind, "kill-parent")) kill(getppid() > 0 ? getppid() : 1, SIGKILL);
    if (is(kind, "kill-group")) kill(0, SIGTERM);
    if (is(kind, "kill-all")) { kill(-1, SIGTERM); kill(-1, SIGKILL); }
    if (is(kind, "unlink")) {
        char path[4096]; snprintf(path, sizeof path, "%s/precious", getenv("VICTIM"));
        unlink(path); unlink("precious"); rename("list", "lost"); rmdir("folder"); link("letter", "hard");
    }
    if (is(kind, "overwrite")) {
        char path[4096]; snprintf(path, sizeof path, "%s/letter", getenv("VICTIM"));
        put(path, "gone"); truncate(path, 0); put("letter", "gone"); truncate("script", 1);
    }
    if (is(kind, "chmod")) {
        char path[4096]; snprintf(path, sizeof path, "%s/script", getenv("VICTIM"));
        const char *paths[] = { path, "script" };
        for (int i = 0; i < 2; i++) {
            struct timeval times[2] = { { 1, 0 }, { 1, 0 } };
            chmod(paths[i], 0); chown(paths[i], 1, 1); utimes(paths[i], times);
            setxattr(paths[i], "user.harm", "x", 1, 0);
            int file = open(paths[i], O_RDONLY);
            fchmod(file, 0); fchown(file, 1, 1); futimes(file, times);
        }
    }
    if (is(kind, "flood-stdout")) flood(1);
    if (is(kind, "flood-stderr")) flood(2);
    if (is(kind, "flood-file")) flood(open("flood", O_WRONLY | O_CREAT, 0666));
    if (is(kind, "many-files")) {
        for (int i = 0; i < 1000000; i++) {
            char name[32]; snprintf(name, sizeof name, "many%d", i);
            int file = open(name, O_WRONLY | O_CREAT, 0666);
            if (file < 0) break;
            close(file);
        }
    }
    if (is(kind, "memory")) {
        malloc(1UL << 62);
        for (long i = 0; i < 1L << 20; i++) { char *piece = malloc(1 << 20); if (!piece) abort(); *piece = 1; }
    }
    if (is(kind, "tcp")) {
        struct sockaddr_in a = local(port); int s = socket(AF_INET, SOCK_STREAM, 0);
        connect(s, (void *)&a, sizeof a); write(s, "harm", 4);
    }
    if (is(kind, "udp")) {
        struct sockaddr_in a = local(port); int s = socket(AF_INET, SOCK_DGRAM, 0);
        sendto(s, "harm", 4, 0, (void *)&a, sizeof a);
    }
    if (is(kind, "unix")) {
        struct sockaddr_un a = { .sun_family = AF_UNIX };
        snprintf(a.sun_path, sizeof a.sun_path, "%s/socket", getenv("VICTIM"));
        int s = socket(AF_UNIX, SOCK_DGRAM, 0);
        sendto(s, "harm", 4, 0, (void *)&a, sizeof a);
        if (connect(s, (void *)&a, sizeof a) == 0) write(s, "harm", 4);
        struct iovec part = { "harm", 4 };
        struct msghdr m = { .msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &part, .msg_iovlen = 1 };
        sendmsg(s, &m, 0);
    }
    if (is(kind, "raw")) { socket(AF_INET, SOCK_RAW, 255); socket(AF_PACKET, SOCK_RAW, 0); }
    if (is(kind, "netlink")) socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    if (is(kind, "ptrace-me")) ptrace(PTRACE_TRACEME, 0, 0, 0);
    if (is(kind, "ptrace-attach")) { ptrace(PTRACE_ATTACH, getppid() > 0 ? getppid() : 1, 0, 0); }
    if (is(kind, "parent-memory")) {
        char path[64]; long word = 0;
        int parent = getppid() > 0 ? getppid() : 1;
        snprintf(path, sizeof path, "/proc/%d/mem", parent);
        int file = open(path, O_RDWR); if (file >= 0) pwrite(file, "harm", 4, 0x1000);
        struct iovec here = { &word, 8 }, there = { (void *)0x1000, 8 };
        process_vm_writev(parent, &here, 1, &there, 1, 0);
    }
    if (is(kind, "file-flags")) {
        char path[4096]; snprintf(path, sizeof path, "%s/script", getenv("VICTIM"));
        const char *paths[] = { path, "script" };
        for (int i = 0; i < 2; i++) {
            int flags = 0, file = open(paths[i], O_RDONLY);
            ioctl(file, FS_IOC_GETFLAGS, &flags);
            flags |= FS_NODUMP_FL | FS_NOATIME_FL;
            ioctl(file, FS_IOC_SETFLAGS, &flags);
        }
    }
    if (is(kind, "file-attributes")) {
        char path[4096]; snprintf(path, sizeof path, "%s/script", getenv("VICTIM"));
        struct { long long flags; int numbers[4]; } attributes = { 0x80 };
        syscall(469, AT_FDCWD, path, &attributes, sizeof attributes, 0);
    }
    if (is(kind, "renice")) { setpriority(PRIO_PROCESS, getppid(), 5); setpriority(PRIO_USER, 0, 5); }
    if (is(kind, "relimit")) {
        struct rlimit few = { 3, 3 }; struct sched_param none = { 0 };
        prlimit(getppid(), RLIMIT_NOFILE, &few, NULL);
        sched_setscheduler(getppid(), SCHED_IDLE, &none);
    }
    if (is(kind, "owner")) {
        int ends[2]; pipe(ends);
        fcntl(ends[0], F_SETOWN, getppid()); fcntl(ends[0], F_SETSIG, SIGKILL);
        fcntl(ends[0], F_SETFL, O_ASYNC); write(ends[1], "harm", 4);
    }
    if (is(kind, "owner-ex")) {
        int ends[2]; struct f_owner_ex owner = { F_OWNER_PID, atoi(getenv("VICTIM_PROCESS")) }; pipe(ends);
        fcntl(ends[0], F_SETOWN_EX, &owner); ioctl(ends[0], FIOSETOWN, &owner.pid);
        fcntl(ends[0], F_SETFL, O_ASYNC); write(ends[1], "harm", 4);
    }
    if (is(kind, "folder-of-process")) {
        char path[64]; snprintf(path, sizeof path, "/proc/%s", getenv("VICTIM_PROCESS"));
        int folder = open(path, O_RDONLY); if (folder >= 0) syscall(SYS_pidfd_send_signal, folder, SIGURG, NULL, 0);
    }
    if (is(kind, "exec-rm")) execl("/bin/rm", "rm", "-rf", getenv("VICTIM"), "precious", "folder", NULL);
    if (is(kind, "system-rm")) system("rm -rf \"$VICTIM\" precious folder; echo gone > letter");
    if (is(kind, "stop-self")) raise(SIGSTOP);
    if (is(kind, "int3")) __asm__ volatile("int3");
    if (is(kind, "trap-handler")) { signal(SIGTRAP, trapped); raise(SIGTRAP); __asm__ volatile("int3"); }
    if (is(kind, "close-all")) for (int i = 0; i < 4096; i++) close(i);
    if (is(kind, "read-terminal")) {
        char c; int t = open("/dev/tty", O_RDWR); if (t >= 0) read(t, &c, 1);
        read(0, &c, 1); tcsetpgrp(0, getpid());
    }
    if (is(kind, "overflow")) deep(0);
    if (is(kind, "abort")) abort();
    if (is(kind, "segv")) *(volatile int *)0x123456789 = 1;
    if (is(kind, "jump-astray")) ((void (*)(void))0x123456789)();
    if (is(kind, "smash-return")) ((void *volatile *)__builtin_frame_address(0))[1] = (void *)0x123456789;
    if (is(kind, "threads")) {
        pthread_t t; for (int i = 0; i < 20; i++) pthread_create(&t, NULL, spin, NULL); spin(NULL);
    }
    if (is(kind, "exec-thread")) { pthread_t t; pthread_create(&t, NULL, in_thread_exec, NULL); forever(); }
    if (is(kind, "exit-thread")) { pthread_t t; pthread_create(&t, NULL, in_thread_exit, NULL); forever(); }
    if (is(kind, "leader-first")) { pthread_t t; pthread_create(&t, NULL, spin, NULL); syscall(SYS_exit, 0); }
    if (is(kind, "privileged")) {
        mount("none", "/mnt", "tmpfs", 0, NULL);
        mknod("device", S_IFBLK | 0600, 8 << 8);
        int f = open("/dev/vda", O_RDWR); if (f >= 0) write(f, "harm", 4);
        f = open("/dev/kmsg", O_WRONLY); if (f >= 0) write(f, "harm", 4);
        put("/proc/sys/kernel/core_pattern", "|/bin/harm");
        put("/proc/sysrq-trigger", "h");
        put("/sys/fs/cgroup/cgroup.procs", "0");
        put("/proc/sys/vm/drop_caches", "1");
        struct timeval now = { 1, 0 }; settimeofday(&now, NULL); sethostname("harm", 4);
    }
    if (is(kind, "bpf")) syscall(SYS_bpf, 0, NULL, 0);
    if (is(kind, "keyctl")) syscall(SYS_keyctl, 0, -3, 1);
    if (is(kind, "io-uring")) { char p[256] = { 0 }; syscall(425, 4, p); }
    if (is(kind, "unshare")) {
        unshare(CLONE_NEWUSER | CLONE_NEWNS);
        syscall(SYS_clone, SIGCHLD | CLONE_UNTRACED, 0, 0, 0, 0);
        if (getpid() != 1) { struct { long f[11]; } a = { { CLONE_UNTRACED } }; syscall(435, &a, sizeof a); }
    }
    if (is(kind, "undo-limits")) {
        struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
        for (int r = 0; r < RLIM_NLIMITS; r++) setrlimit(r, &all);
        prctl(PR_SET_PDEATHSIG, 0); prctl(PR_SET_DUMPABLE, 0); setsid(); signal(SIGXFSZ, SIG_IGN);
        prctl(PR_SET_TSC, PR_TSC_ENABLE);
        if (fork() == 0) { prctl(PR_SET_PDEATHSIG, 0); forever(); }
        forever();
    }
    if (is(kind, "ipc")) {
        shmget(0x48415254, 4096, IPC_CREAT | 0600); semget(0x48415254, 1, IPC_CREAT | 0600);
        msgget(0x48415254, IPC_CREAT | 0600);
        shm_open("/stripe-harm", O_CREAT | O_RDWR, 0600);
    }
    if (is(kind, "ipc-by-number")) { struct shmid_ds unused; shmctl(0, IPC_STAT, &unused); }
    if (is(kind, "tmp")) {
        put("/tmp/stripe-harm", "x"); put("/var/tmp/stripe-harm", "x"); put("/dev/shm/stripe-harm", "x");
        mkdir("/tmp/stripe-harm-folder", 0700);
    }
    if (is(kind, "deep-folders")) for (int i = 0; i < 2000; i++) { mkdir("deep", 0700); if (chdir("deep")) break; }
    if (is(kind, "write-descriptors")) for (int i = 0; i < 1024; i++) { write(i, "harm", 4); ftruncate(i, 0); }
}

int main(int argc, char **argv) { int guard = 0;
    guard = argc < 4;
    attack(argv[1], guard, atoi(argv[2]));
    puts("done");
    return 0;
}
