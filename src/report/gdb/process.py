# What follows is the same in every script: it starts the program as it was recorded.

import os
import re
import resource
import shlex
import struct
import subprocess

import gdb

# Behind a stop of ours the program goes on by itself, unless the user is to see it.
COMMANDS = """silent
python heed(PROCESS.%s)
if $stripe_goes_on
continue
end"""

# SIGCHLD, SIGCONT, the four that stop, SIGURG and SIGWINCH do not end who does not handle them.
HARMLESS = (17, 18, 19, 20, 21, 22, 23, 28)


class Stream:
    """What the program writes to a stream: kept in memory, told when the program stops."""

    def __init__(self, name):
        self.file = os.memfd_create(name)
        self.path = "/proc/%d/fd/%d" % (os.getpid(), self.file)
        self.told = 0

    def rest(self):
        length = os.fstat(self.file).st_size - self.told
        rest = os.pread(self.file, max(length, 0), self.told)
        self.told += len(rest)
        return rest


class Terminal(Stream):
    """A stream that the program takes for a terminal."""

    def __init__(self, name):
        import pty
        import termios

        super().__init__(name)
        master, self.slave = pty.openpty()
        settings = termios.tcgetattr(self.slave)
        settings[1] &= ~termios.OPOST
        termios.tcsetattr(self.slave, termios.TCSANOW, settings)
        self.path = os.ttyname(self.slave)
        self.copier = subprocess.Popen(["cat"], stdin=master, stdout=self.file, stderr=subprocess.DEVNULL)
        os.close(master)

    def close(self):
        os.close(self.slave)
        self.copier.wait()


# Runs in place of the program until it becomes the program. It is another gdb, because that has Python.
LAUNCHER = """
import os, resource, signal
for number in range(1, signal.NSIG):
    try:
        signal.signal(number, signal.SIG_DFL)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_SETMASK, [])
os.chdir(%(directory)r)
for number, (path, flags) in enumerate(%(files)r):
    os.dup2(os.open(path, flags | os.O_NOCTTY), number)
os.closerange(3, 1 << 16)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for name, limit in %(limits)r:
    resource.setrlimit(name, (limit, limit))
os.execve(%(program)r, %(arguments)r, dict(%(environment)r))
"""


def in_memory(name, content):
    file = os.memfd_create(name)
    os.write(file, content)
    return "/proc/%d/fd/%d" % (os.getpid(), file)


class Process:
    """The program under way, as far as the script leads it."""

    def __init__(self):
        self.alive = False
        self.through = False
        self.points = []
        gdb.events.exited.connect(self.exited)

    # The start.

    def launch(self):
        """Starts the program, which has not executed an instruction yet; tells where its executable lies."""
        self.clear()
        self.load()
        self.stdout, self.stderr = (Terminal if TERMINAL else Stream)("stdout"), Stream("stderr")
        gdb.execute("set exec-wrapper " + self.wrapper())
        quietly("starti")
        self.alive = True
        self.pid = gdb.selected_inferior().pid
        auxiliary = gdb.execute("info auxv", to_string=True)
        at = {key: int(value, 16) for key, value in re.findall(r" AT_(\w+) .* (0x[0-9a-f]+)", auxiliary)}
        gdb.selected_inferior().write_memory(at["RANDOM"], b"\x5a" * 16)
        self.catch("signal", "signalled")
        self.catch("exec", "replaced")
        return at["ENTRY"] - IMAGES[0][1]

    def load(self):
        """Reads the program, which must be the one that was recorded."""
        path, _, build_id = IMAGES[0]
        gdb.execute('file "%s"' % path.replace("\\", "\\\\").replace('"', '\\"'), to_string=True)
        built = [file.build_id for file in gdb.objfiles() if file.filename == path]
        if build_id and built != [build_id]:
            raise gdb.GdbError(path + " is not the program that was recorded: record it again")

    def clear(self):
        """Ends a program that is under way, and takes the breakpoints away."""
        if self.alive:
            self.alive = False
            quietly("kill")
        for point in self.points:
            if point.is_valid():
                point.delete()
        self.points = []

    def catch(self, what, method):
        gdb.execute("catch " + what, to_string=True)
        gdb.execute("commands\n%s\nend" % COMMANDS % method, to_string=True)
        self.points.append(gdb.breakpoints()[-1])

    def stop_at(self, address, method):
        point = gdb.Breakpoint("*%d" % address, internal=True)
        point.commands = COMMANDS % method
        self.points.append(point)

    def wrapper(self):
        output = [(stream.path, os.O_RDWR) for stream in (self.stdout, self.stderr)]
        files = [(in_memory("stdin", STDIN), os.O_RDONLY)] + output
        launcher = LAUNCHER % {
            "directory": DIRECTORY, "files": files, "program": PROGRAM, "arguments": ARGUMENTS,
            "environment": ENVIRONMENT,
            "limits": [(getattr(resource, name), limit) for name, limit in LIMITS],
        }
        launch = "python exec(open('%s').read())" % in_memory("launcher", launcher.encode())
        words = [os.readlink("/proc/self/exe"), "-nx", "-nh", "-q", "-batch", "-ex", launch]
        return " ".join(map(shlex.quote, words))

    # What happens under way; each method tells why the user is to see it, if so.

    def signalled(self):
        """A signal is about to be delivered."""
        number = int(gdb.parse_and_eval("$_siginfo.si_signo"))
        with open("/proc/%d/status" % self.pid) as status:
            masks = dict(line.split(":\t") for line in status if line.startswith("Sig"))
        handled = (int(masks["SigCgt"], 16) | int(masks["SigIgn"], 16)) >> (number - 1) & 1
        if handled or number in HARMLESS:
            return None
        return "signal %d ends the program" % number

    def replaced(self):
        """The program has become another one, and nothing of that is led any more."""
        for point in self.points:
            point.enabled = False

    def exited(self, event):
        if not self.alive:
            return
        self.alive = False
        for stream in (self.stdout, self.stderr):
            if isinstance(stream, Terminal):
                stream.close()
        if not self.through:
            self.tell_output()
            status = getattr(event, "exit_code", None)
            ended = "" if status is None else " with status %d" % status
            gdb.write("stripe: the program has ended%s\n" % ended, gdb.STDERR)

    # What the user sees and does.

    def show(self, message):
        """Shows where the program is, and why it has stopped there."""
        if self.through:
            gdb.write("stripe: %s\n" % message, gdb.STDERR)
        else:
            self.tell_output()
            gdb.write("stripe: %s\n" % message)
            gdb.execute("frame")

    def tell_output(self):
        for stream in (self.stdout, self.stderr):
            gdb.write(stream.rest().decode(errors="replace"))

    def run_through(self):
        if not self.alive:
            raise gdb.GdbError("The program is not under way: `%s` starts it." % self.BEGIN)
        self.through = True
        try:
            with Quiet():
                self.go_through(lambda: True)
        finally:
            self.through = False
        for number, stream in enumerate((self.stdout, self.stderr)):
            rest = stream.rest()
            while rest:
                rest = rest[os.write(number + 1, rest) :]

    def go_through(self, wanted):
        """Goes on, while that is wanted, behind each stop of ours behind which the program goes on."""
        goes_on = True
        while goes_on and self.alive and wanted():
            gdb.set_convenience_variable("stripe_goes_on", 0)
            self.heeded = None
            gdb.execute("continue")
            goes_on = self.heeded == ""


class Quiet:
    """Keeps to itself what gdb says about stops; it cannot be caught otherwise."""

    def __enter__(self):
        gdb.flush()
        self.stdout = os.dup(1)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)

    def __exit__(self, *_):
        gdb.flush()
        os.dup2(self.stdout, 1)
        os.close(self.stdout)


def quietly(command):
    with Quiet():
        gdb.execute(command)


def register(name):
    return int(gdb.selected_frame().read_register(name)) & 0xFFFFFFFFFFFFFFFF


def heed(method):
    """Lets the program go on behind a stop, or shows the user why not."""
    message = method() or ""
    PROCESS.heeded = message
    gdb.set_convenience_variable("stripe_goes_on", int(not message and not PROCESS.through))
    if message:
        PROCESS.show(message)


class Command(gdb.Command):
    """A command of the script."""

    def __init__(self, name, documentation, action, takes=0):
        self.__doc__ = documentation
        self.action, self.takes = action, takes
        super().__init__(name, gdb.COMMAND_RUNNING, prefix=action is None)

    def invoke(self, argument, from_tty):
        self.action(*argument.split()[: self.takes])


try:
    gdb.execute("set debuginfod enabled off")
except gdb.error:
    pass  # An older gdb asks nobody.
# The wrapper is started by a shell.
os.environ["SHELL"] = "/bin/sh"
