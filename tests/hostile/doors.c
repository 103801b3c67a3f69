// Ways out of a sandbox by paths and descriptors: each operation is tried by each way to write its path.
// doors FOLDER [full]: the folder holds sockets, named pipes and files of others. Each attempt prints a line:
// way, operation, and 0 or the number of its error. Only `main` is traced; without its second statement,
// `guard = ...`, the attempts are made. With a second argument they are made in the recorded run.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <mqueue.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>
#include <utime.h>

static const char *victims, *way = "none";
static void told(const char *operation, long result) {
    printf("%s %s %d\n", way, operation, result < 0 ? errno : 0);
}

static struct sockaddr_un named(const char *path) {
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    return a;
}
static void connect_to(const char *operation, const char *path, int type) {
    struct sockaddr_un a = named(path);
    int s = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
    int result = connect(s, (void *)&a, sizeof a);
    told(operation, result);
    if (result == 0) send(s, "harm", 4, MSG_NOSIGNAL);
    close(s);
}
// The kernel looks at so many bytes of the path as it is told, not at all up to the zero.
static void connect_by_length(const char *path) {
    struct sockaddr_un a = named(path);
    unsigned length = strlen(a.sun_path);
    if (length + 8 > sizeof a.sun_path) return;
    strcpy(a.sun_path + length, "-none");
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    told("connect-by-length", connect(s, (void *)&a, offsetof(struct sockaddr_un, sun_path) + length));
    close(s);
}
static void send_to(const char *path) {
    struct sockaddr_un a = named(path);
    struct iovec part = { "harm", 4 };
    struct msghdr m = { .msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &part, .msg_iovlen = 1 };
    struct mmsghdr several = { m };
    int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    told("sendto", sendto(s, "harm", 4, 0, (void *)&a, sizeof a));
    told("sendmsg", sendmsg(s, &m, 0));
    told("sendmmsg", sendmmsg(s, &several, 1, 0));
    close(s);
}
// What was opened is used at once.
static void use(const char *operation, int file, int writes) {
    char some[16];
    told(operation, file);
    if (file < 0) return;
    if (writes) write(file, "harm", 4); else read(file, some, sizeof some);
    close(file);
}
static long open2(int folder, const char *path, int flags, int resolve) {
    struct open_how how = { .flags = flags, .resolve = resolve };
    return syscall(SYS_openat2, folder, path, &how, sizeof how);
}
static void open_pipes(const char *in, const char *out) {
    use("open-read", syscall(SYS_open, in, O_RDONLY | O_NONBLOCK), 0);
    use("openat-read", openat(AT_FDCWD, in, O_RDONLY | O_NONBLOCK), 0);
    use("openat2-read", open2(AT_FDCWD, in, O_RDONLY | O_NONBLOCK, 0), 0);
    use("open-both", open(in, O_RDWR | O_NONBLOCK), 0);
    use("open-write", syscall(SYS_open, out, O_WRONLY | O_NONBLOCK), 1);
    use("openat-write", openat(AT_FDCWD, out, O_WRONLY | O_NONBLOCK), 1);
    use("openat2-write", open2(AT_FDCWD, out, O_WRONLY | O_NONBLOCK, 0), 1);
    use("creat", syscall(SYS_creat, out, 0600), 1);
}
static void change(const char *path) {
    struct timeval times[2] = { { 1, 0 }, { 1, 0 } };
    struct flock lock = { .l_type = F_RDLCK };
    int file = open(path, O_RDONLY), flags = 0;
    told("chmod", chmod(path, 0));
    told("chown", chown(path, 1, 1));
    told("utimes", utimes(path, times));
    told("setxattr", setxattr(path, "user.harm", "x", 1, 0));
    told("fchmod", fchmod(file, 0));
    told("fchown", fchown(file, 1, 1));
    told("futimens", futimens(file, NULL));
    told("fsetxattr", fsetxattr(file, "user.harm", "x", 1, 0));
    told("flock", flock(file, LOCK_EX | LOCK_NB));
    told("shared-flock", flock(file, LOCK_SH | LOCK_NB));
    told("setlk", fcntl(file, F_SETLK, &lock));
    told("ofd-setlk", fcntl(file, F_OFD_SETLK, &lock));
    told("lease", fcntl(file, F_SETLEASE, F_RDLCK));
    flags = FS_NODUMP_FL;
    told("setflags", ioctl(file, FS_IOC_SETFLAGS, &flags));
    told("truncate", truncate(path, 0));
    close(file);
}

static char stream[256], packets[256], letters[256], in[256], out[256], file[256];
static void paths(const char *folder) {
    snprintf(stream, sizeof stream, "%s/stream", folder);
    snprintf(packets, sizeof packets, "%s/packets", folder);
    snprintf(letters, sizeof letters, "%s/letters", folder);
    snprintf(in, sizeof in, "%s/in", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(file, sizeof file, "%s/file", folder);
}
static void try_all(const char *name, const char *folder) {
    way = name;
    paths(folder);
    connect_to("connect-stream", stream, SOCK_STREAM);
    connect_to("connect-seqpacket", packets, SOCK_SEQPACKET);
    connect_to("connect-dgram", letters, SOCK_DGRAM);
    connect_by_length(stream);
    send_to(letters);
    open_pipes(in, out);
    change(file);
}

// A link to each of them, by descriptors that were opened for nothing but their names.
static void try_descriptors(void) {
    char names[6][64];
    char *from[] = { stream, packets, letters, in, out, file };
    int held[6];
    paths(victims);
    way = "descriptor";
    for (int i = 0; i < 6; i++) {
        held[i] = open(from[i], O_PATH);
        snprintf(names[i], sizeof names[i], "/proc/self/fd/%d", held[i]);
    }
    connect_to("connect-stream", names[0], SOCK_STREAM);
    connect_to("connect-seqpacket", names[1], SOCK_SEQPACKET);
    connect_to("connect-dgram", names[2], SOCK_DGRAM);
    send_to(names[2]);
    open_pipes(names[3], names[4]);
    change(names[5]);
    for (int i = 0; i < 6; i++) close(held[i]);
}
// The folder counts as the root, or as where the path begins.
static void try_folder(void) {
    way = "folder";
    int folder = open(victims, O_PATH | O_DIRECTORY);
    use("openat-read", openat(folder, "in", O_RDONLY | O_NONBLOCK), 0);
    use("openat-write", openat(folder, "out", O_WRONLY | O_NONBLOCK), 1);
    use("in-root-read", open2(folder, "/in", O_RDONLY | O_NONBLOCK, RESOLVE_IN_ROOT), 0);
    use("in-root-write", open2(folder, "/../out", O_WRONLY | O_NONBLOCK, RESOLVE_IN_ROOT), 1);
    use("beneath-read", open2(folder, "in", O_RDONLY | O_NONBLOCK, RESOLVE_BENEATH), 0);
    told("fchmodat", fchmodat(folder, "file", 0, 0));
    told("fchownat", fchownat(folder, "file", 1, 1, 0));
    told("fchownat-empty", fchownat(open(file, O_PATH), "", 1, 1, AT_EMPTY_PATH));
    told("utimensat", utimensat(folder, "file", NULL, 0));
    told("unlinkat", unlinkat(folder, "file", 0));
    told("linkat", linkat(folder, "in", AT_FDCWD, "linked-pipe", 0));
    told("renameat", renameat(folder, "in", AT_FDCWD, "moved-pipe"));
    close(folder);
}
static void try_relative(void) {
    int here = open(".", O_PATH | O_DIRECTORY);
    if (chdir(victims) == 0) try_all("relative", ".");
    if (chdir(victims) == 0) try_all("own-folder", "/proc/self/cwd");
    if (chdir(victims) == 0) try_all("thread-folder", "/proc/thread-self/cwd");
    if (chdir(victims) == 0) try_all("up-and-down", "/proc/self/../self/cwd/.");
    if (chdir(victims) == 0) try_all("net", "/proc/net/../cwd");
    fchdir(here);
    close(here);
}
// The same name, first of an own folder, then of a link to that of others.
static void try_renamed(void) {
    char path[4096];
    mkdir("door", 0700);
    mkdir("door/inner", 0700);
    symlink(victims, "door/outer");
    rename("door/inner", "door/gone");
    rename("door/outer", "door/inner");
    getcwd(path, sizeof path);
    strcat(path, "/door/inner");
    try_all("renamed", path);
}
static void try_links(void) {
    char path[4096];
    symlink(victims, "link");
    symlink("link", "chain");
    symlink("/proc/self/cwd", "magic");
    symlink(victims, "/tmp/stripe-harm");
    try_all("link", "link");
    try_all("chain", "chain/../chain/.");
    try_all("magic", "magic/link");
    try_all("temporary", "/tmp/stripe-harm");
    int folder = open(victims, O_PATH | O_DIRECTORY);
    snprintf(path, sizeof path, "/proc/self/fd/%d", folder);
    try_all("folder-descriptor", path);
    snprintf(path, sizeof path, "/dev/fd/%d", folder);
    try_all("device-descriptor", path);
    snprintf(path, sizeof path, "/proc/%d/fd/%d/./", (int)syscall(SYS_getpid), folder);
    try_all("numbered-descriptor", path);
    snprintf(path, sizeof path, "/proc/self/root%s", victims);
    try_all("root", path);
    close(folder);
}
// A terminal, a message queue and a device of others, which need only be opened for reading.
static void try_devices(void) {
    struct termios settings;
    struct winsize size = { 7, 7 };
    char some[8192];
    way = "device";
    int terminal = open(getenv("VICTIM_TERMINAL"), O_RDONLY | O_NOCTTY | O_NONBLOCK);
    told("terminal", terminal);
    read(terminal, some, sizeof some);
    tcgetattr(terminal, &settings);
    settings.c_lflag ^= ECHO;
    told("tcsetattr", tcsetattr(terminal, TCSANOW, &settings));
    told("winsize", ioctl(terminal, TIOCSWINSZ, &size));
    told("push-back", ioctl(terminal, TIOCSTI, "x"));
    told("flush", tcflush(terminal, TCIOFLUSH));
    int queue = open(getenv("VICTIM_QUEUE_FILE"), O_RDONLY | O_NONBLOCK);
    told("queue-file", queue);
    if (queue >= 0) mq_receive(queue, some, sizeof some, NULL);
    queue = mq_open(getenv("VICTIM_QUEUE"), O_RDONLY | O_NONBLOCK);
    told("queue", queue);
    told("queue-unlink", mq_unlink(getenv("VICTIM_QUEUE")));
    told("loop-control", ioctl(open("/dev/loop-control", O_RDONLY), 0x4C80, 77));
    told("disk", open("/dev/vda", O_RDONLY));
    told("kernel-log", open("/dev/kmsg", O_RDONLY));
}
static void try_abstract(void) {
    way = "abstract";
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    int length = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "%s", getenv("VICTIM_ABSTRACT"));
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    told("connect", connect(s, (void *)&a, offsetof(struct sockaddr_un, sun_path) + 1 + length));
}

// What the run makes itself it may use.
static void use_own(void) {
    char some[8] = "";
    way = "own";
    mkfifo("pipe", 0600);
    int both = open("pipe", O_RDWR | O_NONBLOCK);
    int end = open("/proc/self/cwd/pipe", O_RDONLY | O_NONBLOCK);
    write(both, "own", 3);
    told("pipe", read(end, some, 3) == 3 ? 0 : -1);
    struct sockaddr_un a = named("socket");
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), s = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listener, (void *)&a, sizeof a);
    listen(listener, 1);
    told("socket", connect(s, (void *)&a, sizeof a));
    close(s);
    s = socket(AF_UNIX, SOCK_STREAM, 0);
    a = named("/proc/self/cwd/socket");
    accept(listener, NULL, NULL);
    told("socket-by-link", connect(s, (void *)&a, sizeof a));
    int mine = open("mine", O_RDWR | O_CREAT, 0600);
    struct flock lock = { .l_type = F_WRLCK };
    told("flock", flock(mine, LOCK_EX));
    told("setlk", fcntl(mine, F_SETLK, &lock));
    told("fchmod", fchmod(mine, 0640));
    told("chmod", chmod("mine", 0600));
    told("null", open("/dev/null", O_RDWR));
    int ends[2];
    pipe(ends);
    snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d", ends[1]);
    told("unnamed-pipe", open(a.sun_path, O_WRONLY));
}

// One of each kind of action that is denied, so that a partial run that does more of them goes on.
static void be_denied(void) {
    paths(victims);
    way = "denied";
    connect_to("connect", stream, SOCK_STREAM);
    use("pipe", open(in, O_RDONLY | O_NONBLOCK), 0);
    int held = open(file, O_RDONLY);
    told("flock", flock(held, LOCK_SH | LOCK_NB));
    told("chmod", chmod(file, 0));
    told("device", open("/dev/kmsg", O_RDONLY));
    told("queue", mq_unlink(getenv("VICTIM_QUEUE")));
    told("queue-file", open(getenv("VICTIM_QUEUE_FILE"), O_RDONLY));
    close(held);
}

static void attempt(int guard) {
    if (guard) return;
    try_all("plain", victims);
    try_descriptors();
    try_folder();
    try_relative();
    try_renamed();
    try_links();
    try_devices();
    try_abstract();
}

int main(int argc, char **argv) { int guard = 0;
    guard = argc < 3;
    victims = argv[1];
    setvbuf(stdout, NULL, _IOFBF, 1 << 20);
    be_denied();
    use_own();
    attempt(guard);
    return 0;
}
