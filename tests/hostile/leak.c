// What a run could leave to later ones: one kind for each name. Only `main` is traced. Each run first looks at
// something that runs might share, and prints what it sees; without its second statement, `guard = ...`, it then
// changes that. Where a change is seen by a later run, that prints something else.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

static int is(const char *kind, const char *name) { return strcmp(kind, name) == 0; }
static int starts(const char *kind, const char *name) { return strncmp(kind, name, strlen(name)) == 0; }
static int anew(int file, int how) { char path[32]; sprintf(path, "/proc/self/fd/%d", file); return open(path, how); }
static int put(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CREAT, 0666);
    return file >= 0 && write(file, text, strlen(text)) >= 0 && close(file) == 0;
}
// The number of the parent as /proc tells it: a server, or who starts programs.
static int parent(void) {
    char line[256]; int number = 1; FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, "PPid: %d", &number);
    if (status) fclose(status);
    return number > 0 ? number : 1;
}
// Which of the standard files a kind is about.
static int file_of(const char *kind) { return starts(kind, "stdin") ? 0 : starts(kind, "stdout") ? 1 : 2; }
static const char *what(const char *kind) { const char *dash = strchr(kind, '-'); return dash ? dash + 1 : ""; }
static struct sockaddr_un abstract(void) { struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "\0leak" }; return a; }
// The shared and private mappings that the tracer has made, one after the other.
static int mappings(unsigned long (*found)[2], int most) {
    char line[512]; int count = 0; FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && count < most && fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:stripe") && sscanf(line, "%lx-%lx", &found[count][0], &found[count][1]) == 2) count++;
    if (maps) fclose(maps);
    return count;
}

static long of_file(int file, const char *what) {
    struct stat data; char text[64] = ""; long sum = 0;
    fstat(file, &data);
    if (is(what, "flags")) return fcntl(file, F_GETFL) & (O_APPEND | O_NONBLOCK | O_NOATIME);
    if (is(what, "signal")) return fcntl(file, 10 + 1) + fcntl(file, F_GETOWN);
    if (is(what, "offset")) return lseek(file, 0, SEEK_CUR);
    if (is(what, "mode")) return ((data.st_mode & 0777) != 0) + 10 * (anew(file, O_RDONLY) >= 0);
    if (is(what, "owner")) return data.st_uid + data.st_gid;
    if (is(what, "times")) return data.st_mtime == 1;
    if (is(what, "attribute")) return flistxattr(file, text, sizeof text);
    if (is(what, "lock")) {
        int other = anew(file, O_RDONLY); long locked = flock(other, LOCK_EX | LOCK_NB); close(other); return locked;
    }
    if (is(what, "range")) {
        struct flock all = { .l_type = F_RDLCK }; return fcntl(anew(file, O_RDONLY), F_OFD_SETLK, &all);
    }
    if (is(what, "lease")) return fcntl(file, F_GETLEASE);
    if (is(what, "length") || is(what, "seals")) return data.st_size;
    for (ssize_t i = pread(file, text, sizeof text, 0); i > 0; i--) sum = 31 * sum + text[i - 1];
    return sum;
}

static long look(const char *kind) {
    if (starts(kind, "std")) return of_file(file_of(kind), what(kind));
    if (starts(kind, "in-")) return access(is(what(kind), "directory") ? "leaked" : is(what(kind), "tmp")
        ? "/tmp/stripe-leak" : is(what(kind), "var-tmp") ? "/var/tmp/stripe-leak" : "/dev/shm/stripe-leak", F_OK);
    struct stat data;
    if (is(kind, "mode-of-directory")) { stat(".", &data); return data.st_mode; }
    if (is(kind, "times-of-directory")) { stat(".", &data); return data.st_mtime; }
    if (is(kind, "attribute-of-directory")) { char names[64]; return listxattr(".", names, sizeof names) > 0; }
    if (is(kind, "flags-of-directory")) { int flags = 0; ioctl(open(".", O_RDONLY), FS_IOC_GETFLAGS, &flags); return flags & FS_NODUMP_FL; }
    if (is(kind, "folder-of-runs")) return access(".stripe", F_OK);
    if (is(kind, "directory-above")) { char names[64]; stat("..", &data); return data.st_mode + (listxattr("..", names, sizeof names) > 0) + access("../leaked", F_OK); }
    if (is(kind, "text-of-file")) {
        char text[8] = ""; int f = open("letter", O_RDONLY); read(f, text, 7); return text[0];
    }
    if (is(kind, "shm")) return shmget(0x4c45414b, 0, 0) >= 0;
    if (is(kind, "abstract")) {
        struct sockaddr_un a = abstract(); int s = socket(AF_UNIX, SOCK_DGRAM, 0);
        int taken = bind(s, (void *)&a, sizeof a); close(s); return taken;
    }
    if (is(kind, "nice") || is(kind, "nice-of-group")) return getpriority(PRIO_PROCESS, 0);
    if (is(kind, "scheduler") || is(kind, "scheduler-of-parent")) return sched_getscheduler(0);
    if (is(kind, "affinity")) { cpu_set_t set; sched_getaffinity(0, sizeof set, &set); return CPU_COUNT(&set); }
    if (is(kind, "io-priority")) return syscall(SYS_ioprio_get, 1, 0);
    if (is(kind, "limit") || is(kind, "limit-of-parent")) {
        struct rlimit l; getrlimit(RLIMIT_NOFILE, &l); return l.rlim_cur;
    }
    if (is(kind, "mask")) { mode_t mask = umask(0); umask(mask); return mask; }
    if (is(kind, "directory")) { char path[PATH_MAX]; getcwd(path, sizeof path); return is(path, "/"); }
    if (is(kind, "personality")) return personality(0xffffffff) & ADDR_COMPAT_LAYOUT;
    if (is(kind, "environment")) return getenv("LEAK") != NULL;
    if (is(kind, "signals")) {
        sigset_t set; sigprocmask(0, NULL, &set);
        return sigismember(&set, SIGUSR1) + 2 * (signal(SIGUSR2, SIG_DFL) == SIG_IGN);
    }
    if (is(kind, "timer")) return alarm(0) > 0;
    if (is(kind, "name")) { char name[16]; prctl(PR_GET_NAME, name); return name[0]; }
    if (is(kind, "slack")) return prctl(PR_GET_TIMERSLACK);
    if (is(kind, "adjustment")) {
        char text[16] = ""; int f = open("/proc/self/oom_score_adj", O_RDONLY); read(f, text, 15); return atoi(text);
    }
    if (is(kind, "autogroup")) {
        char text[64] = ""; int f = open("/proc/self/autogroup", O_RDONLY); read(f, text, 63);
        char *nice = strstr(text, "nice"); return nice ? atoi(nice + 5) : 0;
    }
    if (is(kind, "host")) { char name[65]; gethostname(name, sizeof name); return is(name, "leak"); }
    if (is(kind, "groups")) return getgroups(0, NULL);
    if (is(kind, "number-limit")) {
        char text[32] = ""; int f = open("/proc/sys/kernel/msgmni", O_RDONLY); read(f, text, 31); return atoi(text);
    }
    if (is(kind, "late-writer") || is(kind, "orphans")) return of_file(1, "length");
    if (is(kind, "terminal")) { struct termios t; return tcgetattr(1, &t) == 0 && (t.c_lflag & ECHO); }
    return 0;
}

static void change_file(int file, const char *what) {
    struct flock all = { .l_type = F_RDLCK }; struct timeval times[2] = { { 1, 0 }, { 1, 0 } };
    if (is(what, "content")) {
        pwrite(anew(file, O_WRONLY), "leaked", 6, 0); pwrite(file, "leaked", 6, 0);
        int again = anew(file, O_RDWR);
        void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0);
        if (map != MAP_FAILED) { ftruncate(again, 4096); memset(map, 'x', 4096); }
    }
    if (is(what, "truncated")) { ftruncate(anew(file, O_RDWR), 0); anew(file, O_WRONLY | O_TRUNC); }
    if (is(what, "length")) { ftruncate(anew(file, O_RDWR), 5000); fallocate(anew(file, O_RDWR), 0, 0, 9000); }
    if (is(what, "flags")) fcntl(file, F_SETFL, O_APPEND | O_NONBLOCK | O_NOATIME);
    if (is(what, "signal")) { fcntl(file, F_SETOWN, getpid()); fcntl(file, 10, SIGUSR1); }
    if (is(what, "offset")) lseek(file, 3, SEEK_SET);
    if (is(what, "mode")) fchmod(file, 0);
    if (is(what, "owner")) fchown(file, 65534, 65534);
    if (is(what, "times")) futimes(file, times);
    if (is(what, "attribute")) fsetxattr(file, "user.leak", "x", 1, 0);
    if (is(what, "lock")) flock(file, LOCK_EX);
    if (is(what, "range")) { all.l_type = file == 0 ? F_RDLCK : F_WRLCK; fcntl(file, F_OFD_SETLK, &all); }
    if (is(what, "lease")) fcntl(file, F_SETLEASE, F_RDLCK);
    if (is(what, "seals")) fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK);
}

// Writes over what the tracer has mapped, in one of several ways and at places that the seed chooses.
static void wild(unsigned seed) {
    unsigned long found[64][2]; unsigned long state = seed * 2654435761u + 1; int count = mappings(found, 64);
    for (int i = 0; i < count; i++) {
        unsigned long length = found[i][1] - found[i][0], most = length > 1 << 20 ? 1 << 20 : length;
        int ends[2]; char *start = (char *)found[i][0]; if (pipe(ends)) return;
        // By the kernel, which refuses where a store would crash.
        if (read(open("/dev/zero", O_RDONLY), start, 1) != 1 && errno == EFAULT) { close(ends[0]); close(ends[1]); continue; }
        for (int n = 0; n < (seed % 4 == 3 ? 1 : 24); n++) {
            state = state * 6364136223846793005ul + 1442695040888963407ul;
            unsigned long at = (state >> 20) % most & ~7ul;
            if (seed % 4 == 0) { memset(start, (int)(state >> 40), most); break; }
            if (seed % 4 == 1) { memset(start + at, (int)(state >> 40), most - at); break; }
            *(unsigned long *)(start + at % 4096) = seed % 8 < 4 ? state : 0;
        }
        close(ends[0]); close(ends[1]);
    }
}

static void change(const char *kind) {
    unsigned long found[64][2];
    if (starts(kind, "std")) change_file(file_of(kind), what(kind));
    if (is(kind, "fatal")) _exit(3);
    if (starts(kind, "wild-")) wild(atoi(kind + 5));
    if (is(kind, "memory-files")) {
        static char block[1 << 20];
        for (int i = 0; i < 200; i++) {
            int file = memfd_create("held", 0);
            for (int n = 0; n < 60; n++) { memset(block, i + n + 1, sizeof block); if (write(file, block, sizeof block) <= 0) break; }
        }
    }
    if (is(kind, "memory-of-children")) {
        for (int i = 0; i < 40; i++) if (fork() == 0) { memset(malloc(60 << 20), i + 1, 60 << 20); pause(); }
        sleep(30);
    }
    if (is(kind, "shared-memory")) for (int i = 0; i < 100; i++) {
        char *piece = shmat(shmget(IPC_PRIVATE, 60 << 20, 0600), NULL, 0);
        if (piece != (char *)-1) { memset(piece, i + 1, 60 << 20); shmdt(piece); }
    }
    if (is(kind, "in-directory")) put("leaked", "x");
    if (is(kind, "in-tmp")) put("/tmp/stripe-leak", "x");
    if (is(kind, "in-var-tmp")) put("/var/tmp/stripe-leak", "x");
    if (is(kind, "in-shared-memory")) put("/dev/shm/stripe-leak", "x");
    if (is(kind, "mode-of-directory")) chmod(".", 0500);
    if (is(kind, "times-of-directory")) { struct timeval times[2] = { { 1, 0 }, { 1, 0 } }; utimes(".", times); }
    if (is(kind, "attribute-of-directory")) setxattr(".", "user.leak", "x", 1, 0);
    if (is(kind, "flags-of-directory")) { int flags = FS_NODUMP_FL; ioctl(open(".", O_RDONLY), FS_IOC_SETFLAGS, &flags); }
    if (is(kind, "folder-of-runs")) { mkdir(".stripe", 0700); put(".stripe/leaked", "x"); }
    if (is(kind, "directory-above")) { setxattr("..", "user.leak", "x", 1, 0); put("../leaked", "x"); chmod("..", 0700); }
    if (is(kind, "text-of-file")) put("letter", "leaked");
    if (is(kind, "shm")) shmget(0x4c45414b, 4096, IPC_CREAT | 0600);
    if (is(kind, "abstract")) { struct sockaddr_un a = abstract(); bind(socket(AF_UNIX, SOCK_DGRAM, 0), (void *)&a, sizeof a); }
    if (is(kind, "nice")) setpriority(PRIO_PROCESS, 0, 15);
    if (is(kind, "nice-of-group")) setpriority(PRIO_PGRP, 0, 15);
    if (is(kind, "scheduler")) { struct sched_param none = { 0 }; sched_setscheduler(0, SCHED_IDLE, &none); }
    if (is(kind, "scheduler-of-parent")) { struct sched_param none = { 0 }; sched_setscheduler(parent(), SCHED_IDLE, &none); }
    if (is(kind, "affinity")) { cpu_set_t set; memset(&set, -1, sizeof set); sched_setaffinity(0, sizeof set, &set); }
    if (is(kind, "io-priority")) syscall(SYS_ioprio_set, 1, 0, 3 << 13);
    if (is(kind, "limit")) { struct rlimit few = { 50, 60 }; setrlimit(RLIMIT_NOFILE, &few); }
    if (is(kind, "limit-of-parent")) { struct rlimit few = { 50, 60 }; prlimit(parent(), RLIMIT_NOFILE, &few, NULL); }
    if (is(kind, "mask")) umask(0777);
    if (is(kind, "directory")) chdir("/");
    if (is(kind, "personality")) personality(ADDR_NO_RANDOMIZE | ADDR_COMPAT_LAYOUT);
    if (is(kind, "environment")) setenv("LEAK", "1", 1);
    if (is(kind, "signals")) {
        sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); sigprocmask(SIG_BLOCK, &set, NULL);
        signal(SIGUSR2, SIG_IGN);
    }
    if (is(kind, "timer")) alarm(1000);
    if (is(kind, "name")) { prctl(PR_SET_NAME, "~leak"); put("/proc/self/comm", "~leak"); }
    if (is(kind, "slack")) prctl(PR_SET_TIMERSLACK, 12345);
    if (is(kind, "adjustment")) {
        char path[64]; sprintf(path, "/proc/%d/oom_score_adj", parent());
        put("/proc/self/oom_score_adj", "900"); put(path, "900");
    }
    if (is(kind, "autogroup")) put("/proc/self/autogroup", "15");
    if (is(kind, "host")) put("/proc/sys/kernel/hostname", "leak");
    if (is(kind, "groups")) { gid_t one = 1; setgroups(1, &one); }
    if (is(kind, "number-limit")) put("/proc/sys/kernel/msgmni", "77");
    if (is(kind, "memory-of-parent")) {
        char path[64]; sprintf(path, "/proc/%d/mem", parent());
        int file = open(path, O_RDWR);
        for (unsigned long at = 0x400000; file >= 0 && at < 0x500000; at += 8) pwrite(file, "leaked!!", 8, at);
    }
    if (is(kind, "late-writer") && fork() == 0) {
        // Later than this run ends.
        setsid(); if (fork() == 0) for (usleep(500000);;) { write(1, "late", 4); usleep(100); }
        _exit(0);
    }
    if (is(kind, "orphans") && fork() == 0) { if (fork() == 0) for (usleep(500000);;) pwrite(anew(1, O_RDWR), "late", 4, 0); _exit(0); }
    if (is(kind, "terminal")) { struct termios t; tcgetattr(1, &t); t.c_lflag &= ~ECHO; tcsetattr(1, TCSANOW, &t); }
    // What the tracer has mapped: made writable, opened anew, punched. What holds the code is left alone, so that
    // this run goes on.
    if (starts(kind, "tables")) for (int i = 0, n = mappings(found, 64); i < n; i++) {
        char path[96]; unsigned long length = found[i][1] - found[i][0];
        sprintf(path, "/proc/self/map_files/%lx-%lx", found[i][0], found[i][1]);
        int file = open(path, O_RDWR);
        if (file >= 0) { for (unsigned long at = 0; at < length; at += 8) pwrite(file, "leaked!!", 8, at); ftruncate(file, 0); }
        if (found[i][0] >= 0x200000000000 && is(kind, "tables")) madvise((void *)found[i][0], length, MADV_REMOVE);
    }
}

static long leave(const char *kind, int guard) { if (!guard) change(kind); return 0; }

int main(int argc, char **argv) { int guard = 0; long seen = 0; int idle = 0;
    guard = 1;
    seen = 1000 + look(argv[1]);
    idle = idle + 1;
    idle = idle + 2;
    printf("seen %ld\n", seen + leave(argv[1], guard));
    idle = idle + 3;
    return 0;
}
