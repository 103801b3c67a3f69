// Somebody whom attacks of `doors.c` are after: listens at sockets, holds named pipes, a terminal and a
// message queue. witness FOLDER NAME [mount]: prints the paths of the terminal and of the queue, waits for the
// end of its input, and prints what has happened to any of them meanwhile: nothing, if all is well.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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

int main(int argc, char **argv) {
    char some[256], name[256];
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
    printf("%s\n", ptsname(master));
    if (is_mounted) printf("%s/queues%s\n", argv[1], name); else printf("/dev/mqueue%s\n", name);
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
    return 0;
}
