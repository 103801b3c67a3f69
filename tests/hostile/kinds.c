// Further harm that partial runs could do to others: one kind for each name, in rooms of the machine.
// kinds KIND FOLDER [full]: the folder belongs to somebody else (`witness.c`). Only `main` is traced; without its
// second statement, `guard = ...`, the attempt is made; with a third argument it is made in the recorded run.
// Whatever would be dangerous if it succeeded is asked for in a form that does nothing lasting.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/loop.h>
#include <linux/random.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <mqueue.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static const char *kind, *victims;
static int port, shm, sem, msg, other;
static char letter[4096], path_of[8][4096];

static int is(const char *name) { return strcmp(kind, name) == 0; }
static int starts(const char *name) { return strncmp(kind, name, strlen(name)) == 0; }
// A path in the folder of others.
static const char *of(const char *name) {
    static int next; char *path = path_of[next++ % 8];
    snprintf(path, sizeof path_of[0], "%s/%s", victims, name);
    return path;
}
// What lies in the folder of the other process.
static const char *its(const char *name) {
    snprintf(letter, sizeof letter, "/proc/%d/%s", other, name);
    return letter;
}
static void put(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CREAT | O_NOCTTY, 0666);
    if (file >= 0) { write(file, text, strlen(text)); close(file); }
}
static int reads(const char *path) { return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY); }
static struct sockaddr_un named(const char *path) {
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    return a;
}
static void say(int s, const void *to, unsigned length) {
    sendto(s, "harm", 4, MSG_NOSIGNAL | MSG_DONTWAIT, to, length);
    if (connect(s, to, length) == 0) send(s, "harm", 4, MSG_NOSIGNAL);
}

static void to_sockets(void) {
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct sockaddr_un letters = named(of("letters")), stream = named(of("stream")), packets = named(of("packets"));
    struct sockaddr_un hidden = { .sun_family = AF_UNIX };
    int yes = 1, length = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(getenv("VICTIM_ABSTRACT"));
    strcpy(hidden.sun_path + 1, getenv("VICTIM_ABSTRACT"));
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (is("socket-tcp6")) say(socket(AF_INET6, SOCK_STREAM, 0), &six, sizeof six);
    if (is("socket-udp6")) say(socket(AF_INET6, SOCK_DGRAM, 0), &six, sizeof six);
    if (is("socket-fast-open")) sendto(socket(AF_INET, SOCK_STREAM, 0), "harm", 4, MSG_FASTOPEN, (void *)&four, sizeof four);
    if (is("socket-broadcast")) {
        int s = socket(AF_INET, SOCK_DGRAM, 0); setsockopt(s, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes);
        four.sin_addr.s_addr = INADDR_BROADCAST; say(s, &four, sizeof four);
    }
    if (is("socket-multicast")) { four.sin_addr.s_addr = inet_addr("224.0.0.1"); say(socket(AF_INET, SOCK_DGRAM, 0), &four, sizeof four); }
    if (is("socket-listen")) { four.sin_port = 0; int s = socket(AF_INET, SOCK_STREAM, 0); bind(s, (void *)&four, sizeof four); listen(s, 1); }
    if (is("socket-ping")) socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
    if (is("socket-sctp")) socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP);
    if (is("socket-mptcp")) say(socket(AF_INET, SOCK_STREAM, 262), &four, sizeof four);
    if (is("socket-udplite")) socket(AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE);
    if (is("socket-vsock")) socket(AF_VSOCK, SOCK_STREAM, 0);
    if (is("socket-alg")) socket(AF_ALG, SOCK_SEQPACKET, 0);
    if (is("socket-can")) socket(AF_CAN, SOCK_RAW, 1);
    if (is("socket-bluetooth")) socket(AF_BLUETOOTH, SOCK_RAW, 1);
    if (is("socket-xdp")) socket(AF_XDP, SOCK_RAW, 0);
    if (is("socket-packet")) socket(AF_PACKET, SOCK_DGRAM, 0);
    if (is("socket-uevent")) socket(AF_NETLINK, SOCK_DGRAM, 15);
    if (is("socket-audit")) socket(AF_NETLINK, SOCK_RAW, 9);
    if (is("socket-high-half")) syscall(SYS_socket, 0x100000000ul | AF_INET, SOCK_DGRAM, 0);
    if (is("socket-pair-inet")) { int ends[2]; socketpair(AF_INET, SOCK_DGRAM, 0, ends); }
    if (is("socket-abstract-stream")) say(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), &hidden, length);
    if (is("socket-abstract-letters")) say(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0), &hidden, length);
    if (is("socket-abstract-message")) {
        struct iovec part = { "harm", 4 };
        struct msghdr m = { .msg_name = &hidden, .msg_namelen = length, .msg_iov = &part, .msg_iovlen = 1 };
        sendmsg(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0), &m, MSG_NOSIGNAL);
    }
    if (is("socket-own-abstract")) {
        struct sockaddr_un own = { .sun_family = AF_UNIX }; int size = sprintf(own.sun_path + 1, "own-%d", getpid()) + 3;
        int s = socket(AF_UNIX, SOCK_STREAM, 0); bind(s, (void *)&own, size); listen(s, 1);
        int c = socket(AF_UNIX, SOCK_STREAM, 0); if (connect(c, (void *)&own, size)) puts("own socket refused");
    }
    if (is("socket-descriptor-passed")) {
        char space[CMSG_SPACE(sizeof(int))] = { 0 }; struct iovec part = { "harm", 4 };
        struct msghdr m = { &letters, sizeof letters, &part, 1, space, sizeof space, 0 };
        struct cmsghdr *c = CMSG_FIRSTHDR(&m); c->cmsg_level = SOL_SOCKET; c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int)); *(int *)CMSG_DATA(c) = 1;
        sendmsg(socket(AF_UNIX, SOCK_DGRAM, 0), &m, MSG_NOSIGNAL);
    }
    if (is("socket-connected-write")) { int s = socket(AF_UNIX, SOCK_DGRAM, 0); if (!connect(s, (void *)&letters, sizeof letters)) write(s, "harm", 4); }
    if (is("socket-seqpacket")) say(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0), &packets, sizeof packets);
    if (is("socket-by-child")) { if (fork() == 0) { say(socket(AF_UNIX, SOCK_STREAM, 0), &stream, sizeof stream); _exit(0); } usleep(20000); }
    if (is("socket-by-vfork")) { if (vfork() == 0) { say(socket(AF_UNIX, SOCK_STREAM, 0), &stream, sizeof stream); _exit(0); } }
    if (is("socket-by-raw-call")) {
        long s = syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0), result;
        __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_connect), "D"(s), "S"(&stream), "d"(sizeof stream) : "rcx", "r11", "memory");
        if (result == 0) write(s, "harm", 4);
    }
    if (is("socket-unlink")) { unlink(letters.sun_path); unlink(stream.sun_path); }
    if (is("socket-rename")) rename(letters.sun_path, of("away"));
    if (is("socket-bind-over")) { rename(of("file"), letters.sun_path); int s = socket(AF_UNIX, SOCK_DGRAM, 0); bind(s, (void *)&letters, sizeof letters); }
    if (is("socket-mode")) chmod(stream.sun_path, 0);
    if (is("socket-shutdown")) { int s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0); connect(s, (void *)&stream, sizeof stream); shutdown(s, SHUT_RDWR); }
    if (starts("interface-")) {
        struct ifreq r = { .ifr_name = "lo" }; int s = socket(AF_UNIX, SOCK_DGRAM, 0);
        if (is("interface-down")) { ioctl(s, SIOCGIFFLAGS, &r); r.ifr_flags ^= IFF_DEBUG; ioctl(s, SIOCSIFFLAGS, &r); }
        if (is("interface-length")) { r.ifr_mtu = 1400; ioctl(s, SIOCSIFTXQLEN, &r); }
        if (is("interface-name")) { strcpy(r.ifr_newname, "harm"); ioctl(s, SIOCSIFNAME, &r); }
        if (is("interface-route")) { struct rtentry none = { 0 }; ioctl(s, SIOCDELRT, &none); }
        if (is("interface-neighbour")) { struct arpreq none = { 0 }; ioctl(s, SIOCSARP, &none); }
        if (is("interface-bridge")) ioctl(s, SIOCBRADDBR, "stripe-harm");
    }
}

static void to_pipes(void) {
    char some[64]; int end;
    if (is("pipe-read")) read(reads(of("in")), some, sizeof some);
    if (is("pipe-write")) { end = open(of("out"), O_WRONLY | O_NONBLOCK); write(end, "harm", 4); }
    if (is("pipe-both")) { end = open(of("in"), O_RDWR | O_NONBLOCK); read(end, some, 64); write(end, "harm", 4); }
    if (is("pipe-cut")) open(of("out"), O_WRONLY | O_TRUNC | O_CREAT | O_NONBLOCK, 0600);
    if (is("pipe-spliced")) { int ends[2]; pipe(ends); splice(reads(of("in")), NULL, ends[1], NULL, 64, SPLICE_F_NONBLOCK); }
    if (is("pipe-teed")) { int ends[2]; pipe(ends); tee(ends[0], open(of("out"), O_WRONLY | O_NONBLOCK), 64, SPLICE_F_NONBLOCK); }
    if (is("pipe-size")) fcntl(reads(of("in")), F_SETPIPE_SZ, 1 << 16);
    if (is("pipe-by-held")) { char link[64]; sprintf(link, "/proc/self/fd/%d", open(of("in"), O_PATH)); read(reads(link), some, 64); }
    if (is("pipe-by-link")) { symlink(of("in"), "to-pipe"); read(reads("to-pipe"), some, 64); }
    if (is("pipe-by-name")) { link(of("in"), "same-pipe"); read(reads("same-pipe"), some, 64); }
    if (is("pipe-by-shell")) system("exec 3<>\"$VICTIMS/out\"; echo harm >&3");
    if (is("pipe-by-child")) { if (fork() == 0) { read(reads(of("in")), some, 64); _exit(0); } usleep(20000); }
    if (is("pipe-of-process")) { end = open(its("fd/0"), O_RDWR | O_NONBLOCK); write(end, "harm", 4); read(end, some, 64); }
    if (is("pipe-unlink")) unlink(of("in"));
    if (is("pipe-times")) utimensat(AT_FDCWD, of("in"), NULL, 0);
    if (is("pipe-inside")) {
        mkfifo("own-pipe", 0600); end = open("own-pipe", O_RDWR | O_NONBLOCK); write(end, "own", 3);
        if (read(reads("own-pipe"), some, 3) != 3) puts("own pipe refused");
    }
}

static void to_terminals(void) {
    int t = open(getenv("VICTIM_TERMINAL"), O_RDWR | O_NOCTTY | O_NONBLOCK); char some[64];
    struct winsize size = { 7, 7 }; struct termios settings; int value = 1;
    if (t < 0) t = reads(getenv("VICTIM_TERMINAL"));
    if (is("terminal-write")) write(t, "harm", 4);
    if (is("terminal-read")) read(t, some, 64);
    if (is("terminal-size")) ioctl(t, TIOCSWINSZ, &size);
    if (is("terminal-settings")) { tcgetattr(t, &settings); settings.c_lflag ^= ECHO; tcsetattr(t, TCSANOW, &settings); }
    if (is("terminal-type-ahead")) ioctl(t, TIOCSTI, "x");
    if (is("terminal-flush")) tcflush(t, TCIOFLUSH);
    if (is("terminal-hang-up")) ioctl(t, TIOCVHANGUP);
    if (is("terminal-exclusive")) ioctl(t, TIOCEXCL);
    if (is("terminal-steal")) { setsid(); ioctl(t, TIOCSCTTY, 1); }
    if (is("terminal-break")) tcsendbreak(t, 1);
    if (is("terminal-discipline")) { value = 3; ioctl(t, TIOCSETD, &value); }
    if (is("terminal-console")) ioctl(t, TIOCCONS, 0);
    if (is("terminal-selection")) { char paste = 3; ioctl(reads("/dev/tty1"), TIOCLINUX, &paste); }
    if (is("terminal-beep")) ioctl(reads("/dev/console"), 0x4B2F, 0);
    if (is("terminal-keyboard")) ioctl(reads("/dev/tty0"), 0x4B3A, 0);
    if (is("terminal-screen")) put("/dev/vcs1", "harm");
}

static void to_devices(void) {
    struct { int bits, size; char bytes[4]; } entropy = { 0, 4, "harm" };
    if (is("device-loop")) ioctl(reads("/dev/loop-control"), LOOP_CTL_ADD, 77);
    if (is("device-disk")) reads("/dev/vda");
    if (is("device-disk-made")) { mknod("disk", S_IFBLK | 0600, 254 << 8); reads("disk"); }
    if (is("device-log")) put("/dev/kmsg", "harm\n");
    if (is("device-memory")) reads("/dev/mem");
    if (is("device-ports")) reads("/dev/port");
    if (is("device-clock")) reads("/dev/rtc0");
    if (is("device-watchdog")) open("/dev/watchdog99", O_WRONLY);
    if (is("device-fuse")) open("/dev/fuse", O_RDWR);
    if (is("device-tunnel")) open("/dev/net/tun", O_RDWR);
    if (is("device-entropy")) ioctl(open("/dev/random", O_RDWR), RNDADDENTROPY, &entropy);
    if (is("device-entropy-clear")) ioctl(open("/dev/urandom", O_RDONLY), RNDRESEEDCRNG);
    if (is("device-latency")) open("/dev/cpu_dma_latency", O_RDWR);
    if (is("device-input")) open("/dev/uinput", O_WRONLY);
    if (is("device-mapper")) open("/dev/mapper/control", O_RDWR);
    if (is("device-machine")) open("/dev/kvm", O_RDWR);
    if (is("device-userfault")) open("/dev/userfaultfd", O_RDWR);
    if (is("device-null-mode")) { chmod("/dev/null", 0666); utimensat(AT_FDCWD, "/dev/null", NULL, 0); }
    if (is("device-folder")) { mkdir("/dev/stripe-harm", 0700); symlink("null", "/dev/stripe-harm-link"); }
}

static void to_ipc(void) {
    char some[256]; struct { long type; char text[8]; } m = { 1, "harm" }; struct sembuf take = { 0, -1, IPC_NOWAIT };
    if (is("ipc-write")) { char *p = shmat(shm, NULL, 0); if (p != (char *)-1) strcpy(p, "harm"); }
    if (is("ipc-remove")) shmctl(shm, IPC_RMID, NULL);
    if (is("ipc-mode")) { struct shmid_ds d = { 0 }; d.shm_perm.mode = 0; shmctl(shm, IPC_SET, &d); }
    if (is("ipc-lock")) shmctl(shm, SHM_LOCK, NULL);
    if (is("semaphore-take")) semop(sem, &take, 1);
    if (is("semaphore-set")) semctl(sem, 0, SETVAL, 7);
    if (is("semaphore-remove")) semctl(sem, 0, IPC_RMID);
    if (is("message-send")) msgsnd(msg, &m, 4, IPC_NOWAIT);
    if (is("message-receive")) msgrcv(msg, some, 200, 0, IPC_NOWAIT);
    if (is("message-remove")) msgctl(msg, IPC_RMID, NULL);
    if (is("queue-send")) mq_send(mq_open(getenv("VICTIM_QUEUE"), O_WRONLY | O_NONBLOCK), "harm", 4, 0);
    if (is("queue-receive")) mq_receive(mq_open(getenv("VICTIM_QUEUE"), O_RDONLY | O_NONBLOCK), some, 256, NULL);
    if (is("queue-file")) mq_receive(reads(getenv("VICTIM_QUEUE_FILE")), some, 256, NULL);
    if (is("queue-notify")) { struct sigevent none = { .sigev_notify = SIGEV_NONE }; mq_notify(mq_open(getenv("VICTIM_QUEUE"), O_RDONLY), &none); }
    if (is("queue-unlink")) mq_unlink(getenv("VICTIM_QUEUE"));
    if (is("queue-own")) mq_open("/stripe-harm", O_CREAT | O_RDWR, 0600, NULL);
    if (is("shared-file")) { int f = shm_open(getenv("VICTIM_QUEUE"), O_RDWR, 0); write(f, "harm", 4); shm_unlink(getenv("VICTIM_QUEUE")); }
}

static void to_files(void) {
    int f = open(of("file"), O_RDONLY), here = open(victims, O_RDONLY | O_DIRECTORY), zero = 0;
    if (is("file-append")) write(open(of("file"), O_WRONLY | O_APPEND), "harm", 4);
    if (is("file-hole")) fallocate(open(of("file"), O_RDWR), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4);
    if (is("file-grow")) truncate(of("file"), 100);
    if (is("file-opened-to-cut")) open(of("file"), O_WRONLY | O_TRUNC);
    if (is("file-read-to-cut")) open(of("file"), O_RDONLY | O_TRUNC);
    if (is("file-mapped")) { char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open(of("file"), O_RDWR), 0); if (p != MAP_FAILED) *p = 'X'; }
    if (is("file-remapped")) { char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, f, 0); if (mprotect(p, 4096, PROT_READ | PROT_WRITE) == 0) *p = 'X'; }
    if (is("file-by-memory")) { char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, f, 0); pwrite(open("/proc/self/mem", O_RDWR), "X", 1, (off_t)p); }
    if (is("file-copied-over")) copy_file_range(f, NULL, open(of("file"), O_WRONLY), NULL, 4, 0);
    if (is("file-sent-over")) sendfile(open(of("file"), O_WRONLY | O_APPEND), f, NULL, 4);
    if (is("file-spliced-over")) { int ends[2]; pipe(ends); write(ends[1], "harm", 4); splice(ends[0], NULL, open(of("file"), O_WRONLY), NULL, 4, 0); }
    if (is("file-by-descriptor")) { char p[64]; sprintf(p, "/proc/self/fd/%d", f); put(p, "harm"); }
    if (is("file-exchanged")) { put("mine", "x"); syscall(SYS_renameat2, AT_FDCWD, "mine", AT_FDCWD, of("file"), 2); }
    if (is("file-linked")) link(of("file"), of("linked"));
    if (is("file-linked-here")) { link(of("file"), "linked"); put("linked", "harm"); chmod("linked", 0); }
    if (is("file-link-made")) symlink("nowhere", of("symbolic"));
    if (is("file-nameless")) { int t = open(victims, O_TMPFILE | O_RDWR, 0600); linkat(t, "", AT_FDCWD, of("named"), AT_EMPTY_PATH); }
    if (is("file-pipe-made")) mkfifo(of("new-pipe"), 0600);
    if (is("file-attribute")) setxattr(of("file"), "user.harm", "x", 1, 0);
    if (is("file-attribute-gone")) fremovexattr(f, "user.kept");
    if (is("file-attribute-at")) { struct { unsigned long v; unsigned s, f; } a = { (long)"x", 1, 0 }; syscall(463, AT_FDCWD, of("file"), 0, "user.harm", &a, 16); }
    if (is("file-access-list")) setxattr(of("file"), "system.posix_acl_access", "\2\0\0\0", 4, 0);
    if (is("file-capability")) setxattr(of("file"), "security.capability", "\1\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20, 0);
    if (is("file-immutable")) { int flags = FS_IMMUTABLE_FL; ioctl(f, FS_IOC_SETFLAGS, &flags); }
    if (is("file-project")) { struct fsxattr x = { .fsx_projid = 7 }; ioctl(f, FS_IOC_FSSETXATTR, &x); }
    if (is("file-generation")) ioctl(f, FS_IOC_SETVERSION, &zero);
    if (is("file-verity")) { struct { unsigned v[4]; unsigned long r[14]; } e = { { 1, 1, 4096 } }; ioctl(f, _IOW('f', 133, char[128]), &e); }
    if (is("file-encrypted")) { char policy[12] = { 0 }; ioctl(here, _IOR('f', 19, char[12]), policy); }
    if (is("file-cloned")) ioctl(open(of("file"), O_RDWR), FICLONE, f);
    if (is("file-thaw")) ioctl(here, FITHAW, 0);
    if (is("file-trim")) { struct fstrim_range r = { 0, 0, 0 }; ioctl(here, FITRIM, &r); }
    if (is("file-label")) ioctl(here, FS_IOC_SETFSLABEL, "harm");
    if (is("file-read-hint")) { unsigned long hint = 5; fcntl(open(of("file"), O_RDWR), F_SET_RW_HINT, &hint); }
    if (is("file-times-of-held")) utimensat(open(of("file"), O_PATH), "", NULL, AT_EMPTY_PATH);
    if (is("file-mode-of-held")) { char p[64]; sprintf(p, "/proc/self/fd/%d", open(of("file"), O_PATH)); chmod(p, 0); }
    if (is("file-mode-at")) syscall(452, f, "", 0, AT_EMPTY_PATH);
    if (is("file-owner-of-held")) fchownat(open(of("file"), O_PATH), "", 1, 1, AT_EMPTY_PATH);
    if (is("file-group")) chown(of("file"), -1, 1);
    if (is("file-read-lock")) { struct flock l = { .l_type = F_RDLCK }; fcntl(f, F_SETLK, &l); }
    if (is("file-lease")) fcntl(f, F_SETLEASE, F_WRLCK);
    if (is("file-flock")) flock(f, LOCK_EX | LOCK_NB);
    if (is("folder-lock")) flock(here, LOCK_EX | LOCK_NB);
    if (is("folder-made")) mkdir(of("made"), 0700);
    if (is("folder-mode")) fchmod(here, 0);
    if (is("folder-moved")) rename(victims, of("../stripe-moved"));
    if (is("folder-of-root")) { mkdir("/stripe-harm", 0700); put("/etc/stripe-harm", "x"); put("/root/stripe-harm", "x"); }
    if (is("file-by-handle")) { struct { struct file_handle h; char b[128]; } h = { { 128 } }; int id; name_to_handle_at(AT_FDCWD, of("file"), &h.h, &id, 0); open_by_handle_at(here, &h.h, O_RDWR); }
    if (is("file-by-shell")) system("cd \"$VICTIMS\" && { echo harm > file; touch new; rm -f in; chmod 0 file; }");
    if (is("file-aio")) {
        unsigned long context = 0; struct { unsigned long d; unsigned k, f; unsigned short op, prio; unsigned fd; unsigned long b, n, o, r; unsigned fl, rf; } c = { .op = 1, .fd = open(of("file"), O_WRONLY), .b = (long)"harm", .n = 4 }, *list = &c;
        syscall(SYS_io_setup, 1, &context); syscall(SYS_io_submit, context, 1, &list);
    }
}

static void to_home(void) {
    char p[4096]; const char *home = getenv("HOME");
    const char *names[] = { ".bashrc", ".profile", ".ssh/authorized_keys", ".config/autostart/harm.desktop", ".config/systemd/user/harm.service", ".local/bin/harm", ".forward" };
    if (is("home-start-files")) for (int i = 0; i < 7; i++) { snprintf(p, sizeof p, "%s/%s", home, names[i]); put(p, "harm"); chmod(p, 0777); }
    if (is("home-folder")) { chmod(home, 0777); snprintf(p, sizeof p, "%s/.stripe-harm", home); mkdir(p, 0700); }
    if (is("home-timetable")) { put("/var/spool/cron/crontabs/stripe-harm", "x"); put("/etc/cron.d/stripe-harm", "x"); put("/var/spool/at/stripe-harm", "x"); }
    if (is("home-system-start")) { put("/etc/profile.d/stripe-harm.sh", "x"); put("/etc/ld.so.preload", ""); put("/etc/systemd/system/stripe-harm.service", "x"); }
    if (is("home-run-folder")) { put("/run/stripe-harm", "x"); put("/var/lib/stripe-harm", "x"); put("/var/log/stripe-harm", "x"); }
}

static void to_processes(void) {
    struct iovec here = { "harm", 4 }, there = { (void *)strtoul(getenv("VICTIM_MEMORY"), NULL, 16), 4 };
    struct rlimit few = { 9, 9 }; struct sched_param none = { 0 }; cpu_set_t one; int status = 0; char some[64];
    siginfo_t info = { .si_code = SI_QUEUE }; void *pages[1] = { there.iov_base }; int nodes[1] = { 0 };
    int process = syscall(SYS_pidfd_open, other, 0), folder = open(its(""), O_RDONLY | O_DIRECTORY);
    CPU_ZERO(&one); CPU_SET(0, &one); info.si_signo = SIGURG;
    if (is("process-signal")) kill(other, SIGUSR1);
    if (is("process-group")) kill(-other, SIGUSR1);
    if (is("process-thread")) syscall(SYS_tgkill, other, other, SIGUSR1);
    if (is("process-old-thread")) syscall(SYS_tkill, other, SIGUSR1);
    if (is("process-queue")) syscall(SYS_rt_sigqueueinfo, other, SIGURG, &info);
    if (is("process-thread-queue")) syscall(SYS_rt_tgsigqueueinfo, other, other, SIGURG, &info);
    if (is("process-descriptor")) syscall(SYS_pidfd_send_signal, process, SIGUSR1, NULL, 0);
    if (is("process-folder")) syscall(SYS_pidfd_send_signal, folder, SIGUSR1, NULL, 0);
    if (is("process-own-files")) syscall(SYS_pidfd_getfd, process, 0, 0);
    if (is("process-attach")) ptrace(PTRACE_ATTACH, other, 0, 0);
    if (is("process-seize")) ptrace(PTRACE_SEIZE, other, 0, 0);
    if (is("process-memory-call")) process_vm_writev(other, &here, 1, &there, 1, 0);
    if (is("process-memory-read")) process_vm_readv(other, &(struct iovec){ some, 4 }, 1, &there, 1, 0);
    if (is("process-memory-file")) pwrite(open(its("mem"), O_RDWR), "harm", 4, (off_t)there.iov_base);
    if (is("process-affinity")) sched_setaffinity(other, sizeof one, &one);
    if (is("process-scheduler")) sched_setscheduler(other, SCHED_IDLE, &none);
    if (is("process-attributes")) { struct { unsigned size, policy; unsigned long flags; int nice; unsigned prio; unsigned long r, d, p; } a = { 48, SCHED_BATCH }; syscall(SYS_sched_setattr, other, &a, 0); }
    if (is("process-nice")) setpriority(PRIO_PROCESS, other, 7);
    if (is("process-nice-of-group")) setpriority(PRIO_PGRP, other, 7);
    if (is("process-io")) syscall(SYS_ioprio_set, 1, other, 3 << 13);
    if (is("process-limits")) prlimit(other, RLIMIT_NOFILE, &few, NULL);
    if (is("process-pages")) syscall(SYS_move_pages, other, 1, pages, nodes, &status, 0);
    if (is("process-nodes")) { unsigned long all = 1; syscall(SYS_migrate_pages, other, 8, &all, &all); }
    if (is("process-advice")) syscall(SYS_process_madvise, process, &there, 1, MADV_COLD, 0);
    if (is("process-release")) syscall(448, process, 0);
    if (is("process-compare")) syscall(SYS_kcmp, other, getpid(), 0, 0, 0);
    if (is("process-counters")) { char attributes[128] = { 0 }; attributes[4] = 112; syscall(SYS_perf_event_open, attributes, other, -1, -1, 0); }
    if (is("process-join-group")) setpgid(0, other);
    if (is("process-move-group")) setpgid(other, 0);
    if (is("process-core-cookie")) prctl(62, 2, other, 0, 0);
    if (is("process-names")) { put(its("comm"), "harm"); put(its("oom_score_adj"), "900"); put(its("timerslack_ns"), "77"); }
    if (is("process-settings")) { put(its("coredump_filter"), "1"); put(its("autogroup"), "9"); put(its("clear_refs"), "1"); put(its("loginuid"), "7"); }
    if (is("process-directory")) { chdir(its("cwd")); put("stripe-harm", "x"); }
    if (is("process-root")) put(its("root/tmp/stripe-harm"), "x");
    if (is("process-files")) { put(its("fd/1"), "harm"); read(reads(its("fd/0")), some, 64); }
    if (is("process-file-owner")) { int ends[2]; pipe(ends); fcntl(ends[0], F_SETOWN, other); fcntl(ends[0], F_SETFL, O_ASYNC); write(ends[1], "x", 1); }
    if (is("process-timer")) { struct sigevent e = { .sigev_notify = 4, .sigev_signo = SIGUSR1 }; timer_t t; ((int *)&e)[4] = other; syscall(SYS_timer_create, CLOCK_MONOTONIC, &e, &t); }
    if (is("process-namespace")) setns(open(its("ns/net"), O_RDONLY), 0);
    if (is("process-namespace-by-descriptor")) setns(process, CLONE_NEWNS);
}

static void to_machine(void) {
    struct timex change = { .modes = ADJ_TICK, .tick = 9999 }; struct timespec then = { 1, 0 }; struct timeval past = { 1, 0 }; char some[256] = { 0 };
    if (is("machine-clock-rate")) adjtimex(&change);
    if (is("machine-clock-adjust")) clock_adjtime(CLOCK_REALTIME, &change);
    if (is("machine-clock-slew")) adjtime(&past, NULL);
    if (is("machine-clock-set")) clock_settime(CLOCK_REALTIME, &then);
    if (is("machine-day-time")) settimeofday(&past, NULL);
    if (is("machine-zone")) { struct timezone z = { 60, 0 }; settimeofday(NULL, &z); }
    if (is("machine-swap")) syscall(SYS_swapoff, "/nowhere");
    if (is("machine-quota")) syscall(SYS_quotactl, 0x80000100, "/dev/vda", 0, NULL);
    if (is("machine-quota-by-descriptor")) syscall(SYS_quotactl_fd, open("/", O_RDONLY), 0x80000100, 0, NULL);
    if (is("machine-module")) syscall(SYS_init_module, some, 8, "");
    if (is("machine-module-gone")) syscall(SYS_delete_module, "stripe_harm", O_NONBLOCK);
    if (is("machine-kernel")) syscall(SYS_kexec_load, 0, 0, NULL, 0);
    if (is("machine-restart")) syscall(SYS_reboot, 0xfee1dead, 672274793, 0x12345678, NULL);
    if (is("machine-name")) { sethostname("harm", 4); setdomainname("harm", 4); }
    if (is("machine-log")) syscall(SYS_syslog, 5, NULL, 0);
    if (is("machine-log-level")) syscall(SYS_syslog, 8, NULL, 1);
    if (is("machine-log-file")) read(reads("/proc/kmsg"), some, 200);
    if (is("machine-account")) syscall(SYS_acct, "/nowhere");
    if (is("machine-ports")) syscall(SYS_ioperm, 0x80, 1, 1);
    if (is("machine-hang-up")) syscall(SYS_vhangup);
    if (is("machine-settings")) { put("/proc/sys/kernel/printk_ratelimit", "77"); put("/proc/sys/vm/dirty_ratio", "77"); put("/proc/sys/net/core/somaxconn", "77"); }
    if (is("machine-devices")) { put("/sys/block/vda/queue/read_ahead_kb", "77"); put("/sys/kernel/mm/transparent_hugepage/enabled", "never"); put("/sys/module/printk/parameters/time", "N"); }
    if (is("machine-groups")) { mkdir("/sys/fs/cgroup/stripe-harm", 0700); put("/sys/fs/cgroup/cgroup.procs", "0"); }
    if (is("machine-event-log")) read(reads("/sys/kernel/tracing/trace_pipe"), some, 200);
    if (is("machine-event-clear")) put("/sys/kernel/tracing/trace", "");
    if (is("machine-firmware")) put("/sys/firmware/efi/efivars/StripeHarm-00000000-0000-0000-0000-000000000000", "x");
    if (is("mount-new")) syscall(SYS_fsopen, "tmpfs", 0);
    if (is("mount-tree")) syscall(SYS_open_tree, AT_FDCWD, "/", 1);
    if (is("mount-attributes")) { unsigned long a[4] = { 1 }; syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, a, sizeof a); }
    if (is("mount-remount")) syscall(SYS_mount, "none", "/tmp", NULL, 32 | 1, NULL);
    if (is("mount-gone")) syscall(SYS_umount2, "/proc", 0);
    if (is("mount-root")) syscall(SYS_pivot_root, ".", ".");
    if (is("mount-chroot")) chroot(".");
    if (is("mount-move")) syscall(SYS_move_mount, AT_FDCWD, ".", AT_FDCWD, "/mnt", 0);
    if (is("watch-all")) syscall(SYS_fanotify_init, 0, 0);
    if (is("namespace-clone")) syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (is("namespace-map")) { put("/proc/self/setgroups", "deny"); put("/proc/self/uid_map", "0 0 1"); }
    if (is("answers-calls")) {
        struct { unsigned short c; unsigned char t, f; unsigned k; } allow = { 6, 0, 0, SECCOMP_RET_ALLOW }; struct { unsigned short n; void *p; } program = { 1, &allow };
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); syscall(SYS_seccomp, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    }
    if (is("other-convention")) { long result; __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory"); }
    if (is("third-convention")) syscall(0x40000000 | SYS_getpid);
    if (is("keys-session")) syscall(SYS_keyctl, 1, NULL);
    if (is("keys-request")) syscall(SYS_request_key, "user", "stripe-harm", "x", -3);
    if (is("bpf-object")) { memset(some, 0, sizeof some); syscall(SYS_bpf, 7, some, 128); }
    if (is("ring-register")) syscall(427, 0, 0, NULL, 0);
    if (is("capabilities-raised")) {
        struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 }; struct __user_cap_data_struct all[2] = { { -1, -1, -1 }, { -1, -1, -1 } };
        syscall(SYS_capset, &h, all); prctl(PR_SET_SECUREBITS, 0x2f); prctl(47, 2, 21, 0, 0); adjtimex(&change);
    }
    if (is("identity-changed")) { setgid(1); setuid(1); kill(other, SIGUSR1); put(of("file"), "harm"); }
    if (is("futex-wake")) { int f = open(of("file"), O_RDONLY); int *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, f, 0); syscall(SYS_futex, p, FUTEX_WAKE, 9, NULL, NULL, 0); }
}

static void to_bounds(void) {
    static char block[1 << 16]; int i, f;
    memset(block, 'x', sizeof block);
    if (is("many-descriptors")) for (i = 0; i < 3000 && open("/dev/null", O_RDONLY) >= 0; i++) {}
    if (is("many-pipes")) { int ends[2]; for (i = 0; i < 3000 && pipe(ends) == 0; i++) fcntl(ends[0], F_SETPIPE_SZ, 1 << 20); }
    if (is("many-sockets")) { int ends[2]; for (i = 0; i < 3000 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0; i++) send(ends[0], block, sizeof block, MSG_DONTWAIT); }
    if (is("many-timers")) { struct sigevent e = { .sigev_notify = SIGEV_NONE }; timer_t t; for (i = 0; i < 3000 && timer_create(CLOCK_MONOTONIC, &e, &t) == 0; i++) {} }
    if (is("many-watches")) { f = inotify_init(); for (i = 0; i < 1 << 16; i++) { char p[32]; sprintf(p, "w%d", i); if (mkdir(p, 0700) || inotify_add_watch(f, p, IN_ALL_EVENTS) < 0) break; } }
    if (is("many-mappings")) for (i = 0; i < 1 << 17 && mmap(NULL, 4096, i % 2 + 1, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED; i++) {}
    if (is("many-signals")) { sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, NULL); for (i = 0; i < 3000 && sigqueue(getpid(), SIGRTMIN, (union sigval){ 0 }) == 0; i++) {} }
    if (is("many-links")) for (i = 0; i < 600; i++) { char p[32]; sprintf(p, "l%d", i); if (symlink(p, p)) break; }
    if (is("locked-memory")) { mlockall(MCL_CURRENT | MCL_FUTURE); for (i = 0; i < 1 << 12; i++) { char *p = malloc(1 << 20); if (!p) break; memset(p, i, 1 << 20); } }
    if (is("secret-memory")) { f = syscall(447, 0); ftruncate(f, 1ul << 32); char *p = mmap(NULL, 1ul << 32, 3, MAP_SHARED, f, 0); if (p != MAP_FAILED) for (unsigned long at = 0; at < 1ul << 32; at += 4096) p[at] = 1; }
    if (is("huge-pages")) { char *p = mmap(NULL, 1 << 30, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0); if (p != MAP_FAILED) memset(p, 1, 1 << 30); }
    if (is("room-reserved")) for (i = 0; i < 400; i++) { char p[32]; sprintf(p, "r%d", i); fallocate(open(p, O_RDWR | O_CREAT, 0600), FALLOC_FL_KEEP_SIZE, 0, 1ul << 23); }
    if (is("long-line")) for (i = 0; i < 1 << 14; i++) fwrite(block, 1, sizeof block, stdout);
    if (is("deep-stack")) { volatile char *p = alloca(1 << 30); *p = 1; }
    if (is("children-in-turn")) for (i = 0; i < 50; i++) if (fork() == 0) _exit(0);
    if (is("children-of-children")) { while (fork() == 0) {} wait(NULL); }
    if (is("sessions")) for (i = 0; i < 100; i++) if (fork() == 0) { setsid(); pause(); }
    if (is("stopped-children")) for (i = 0; i < 10; i++) if (fork() == 0) { raise(SIGSTOP); pause(); }
    if (is("children-of-exec")) for (i = 0; i < 10; i++) if (fork() == 0) { execl("/bin/sleep", "sleep", "100", NULL); _exit(1); }
}

static int attempt(int guard, char **argv) {
    kind = argv[1]; victims = argv[2];
    sscanf(getenv("VICTIM_NUMBERS"), "%d %d %d %d %d", &other, &port, &shm, &sem, &msg);
    setenv("VICTIMS", victims, 1);
    if (guard || is("none")) return 0;
    if (is("fatal")) _exit(3);
    to_sockets(); to_pipes(); to_home(); to_bounds();
    if (starts("terminal-")) to_terminals();
    if (starts("device-")) to_devices();
    if (starts("file-") || starts("folder-")) to_files();
    if (starts("process-")) to_processes();
    to_ipc(); to_machine();
    return 0;
}

int main(int argc, char **argv) { int guard = 0; int idle = 0;
    guard = argc < 4;
    idle = idle + 1;
    // What a kind needs is no statement of its own, which could be left out before the guard.
    printf("done %d\n", attempt(guard, argv));
    idle = idle + 2;
    return 0;
}
