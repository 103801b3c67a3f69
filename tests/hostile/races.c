// Two processes or threads of one run, of which one changes what the other's call names while somebody decides about
// that call: races KIND FOLDER. The folder belongs to somebody else (`witness.c`). A kind is who changes what, and for
// which call: thread-path-open, process-link-connect, ... Prints how often a call has reached what is not the run's.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIES = 60 };
static const char *kind, *victim;
static char own[4096], others[4096];
// What two processes share, and what a call names.
static struct named {
    char path[4096];
    struct sockaddr_un address;
    struct flock lock;
    volatile int is_over;
} *named;
static int is_about(const char *word) { return strstr(kind, word) != NULL; }

static void name_it(const char *path) {
    // As long as the other one, so that a mixture of both is a path as well.
    memcpy(named->path, path, strlen(path) + 1);
    memcpy(named->address.sun_path, path, strlen(path) + 1);
    named->lock.l_type = path == own ? F_UNLCK : F_RDLCK;
}

// Names the own and the other one in turn: in memory, by a link, by a folder that is exchanged, by a descriptor.
static void change(void) {
    int first = open(own, O_RDONLY | O_NONBLOCK), second = open(is_about("fchmod") ? others : "/", O_RDONLY | O_NONBLOCK);
    for (unsigned turn = 0; !named->is_over; turn++) {
        if (is_about("-path-")) name_it(turn % 2 ? others : own);
        else if (is_about("-link-")) { unlink("new"); symlink(turn % 2 ? others : own, "new"); rename("new", "link"); }
        else if (is_about("-folder-")) syscall(SYS_renameat2, AT_FDCWD, "one", AT_FDCWD, "two", 2);
        else dup2(turn % 2 ? second : first, 100);
    }
}
static void *change_in_thread(void *unused) { change(); return unused; }

static int calls_reach(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX }; char read_now[8]; int result = -1;
    struct stat reached, wanted;
    if (path) strcpy(address.sun_path, path);
    if (!path) path = named->path;
    const struct sockaddr_un *to = path == named->path ? &named->address : &address;
    if (is_about("open")) {
        int file = open(path, O_RDONLY | O_NONBLOCK);
        stat(others, &wanted);
        if (file >= 0 && fstat(file, &reached) == 0 && S_ISFIFO(reached.st_mode) && reached.st_ino == wanted.st_ino) result = read(file, read_now, 5);
        close(file);
    } else if (is_about("connect") || is_about("send")) {
        int s = socket(AF_UNIX, (is_about("send") ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK, 0);
        result = is_about("send") ? sendto(s, "harm", 4, MSG_DONTWAIT, (void *)to, sizeof *to) : connect(s, (void *)to, sizeof *to);
        // Nobody listens at the own one.
        close(s);
    } else if (is_about("chmod")) { if (!is_about("fchmod")) chmod(path, 0640); else fchmod(100, 0640); }
    else if (is_about("lock")) {
        struct flock there = { .l_type = F_WRLCK };
        int file = open(others, O_RDONLY), again = open(others, O_RDONLY);
        fcntl(file, F_OFD_SETLK, &named->lock);
        if (fcntl(again, F_OFD_GETLK, &there) == 0 && there.l_type != F_UNLCK) result = 0;
        close(file); close(again);
    }
    return result;
}

static int tries(void) {
    pthread_t thread; int won = 0;
    if (is_about("thread")) pthread_create(&thread, NULL, change_in_thread, NULL);
    for (int i = 0; i < TRIES; i++)
        won += calls_reach(is_about("-link-") ? "link" : is_about("-folder-") ? "one/it" : NULL) >= 0;
    named->is_over = 1;
    if (is_about("thread")) pthread_join(thread, NULL);
    return won;
}

static int race(char **argv) {
    kind = argv[1]; victim = is_about("open") ? "in" : is_about("connect") ? "stream" : is_about("send") ? "letters" : "file";
    snprintf(others, sizeof others, "%s/%s", argv[2], victim);
    // The own one has a name of the same length.
    memset(own, '/', strlen(others));
    const char *name = is_about("chmod") || is_about("lock") ? "own" : "nobody";
    memcpy(own, "./", 2); strcpy(own + strlen(others) - strlen(name), name);
    if (is_about("chmod") || is_about("lock")) close(open("own", O_WRONLY | O_CREAT, 0600));
    named = mmap(NULL, sizeof *named, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    named->address.sun_family = AF_UNIX; name_it(own);
    mkdir("one", 0700); mkdir("two", 0700); symlink(others, "two/it"); symlink("../nobody", "one/it"); symlink(own, "link");
    if (is_about("thread")) {
        // The first process is to have one thread only.
        pid_t child = fork(); int status = 0;
        if (child == 0) _exit(tries() > 0);
        waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    }
    pid_t child = fork();
    if (child == 0) { change(); _exit(0); }
    int won = tries();
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return won > 0;
}

int main(int argc, char **argv) { int won = 0;
    won = race(argv);
    printf("won %d\n", won);
    return 0;
}
