# What follows is the same in every script. It is the rules of stripe's replay once more, by gdb's means:
# a breakpoint at each statement, and `set $pc` where executions are left out.

import os
import re
import resource
import shlex
import subprocess

import gdb

# Behind a stop of ours the program goes on by itself, unless the user is to see it.
COMMANDS = """silent
python heed(SLICE.%s)
if $stripe_goes_on
continue
end"""

OMITTED = "-"
STOPS = {"*": "needed for its effect", "o": "needed only as a decision"}
# SIGCHLD, SIGCONT, the four that stop, SIGURG and SIGWINCH do not end who does not handle them.
HARMLESS = (17, 18, 19, 20, 21, 22, 23, 28)


class Left(Exception):
    """The run has left the recorded path."""


class Table:
    """What was recorded, ready to be looked up."""

    def __init__(self):
        rows = [row.split(None, 5) for row in LEADERS.splitlines() if row]
        self.images = [int(row[0]) for row in rows]
        self.addresses = [int(row[1], 16) for row in rows]
        self.functions = [int(row[2]) for row in rows]
        self.kinds = [row[3] for row in rows]
        self.live = [int(row[4], 16) for row in rows]
        self.places = [row[5] for row in rows]
        self.frame_sizes = [int(size) for size in FRAMES.split()]
        rows = [row.split() for row in EVENTS.splitlines() if row]
        self.leaders = [int(row[0]) for row in rows]
        calls = [int(row[1]) for row in rows]
        self.signs = [row[2] for row in rows]
        # The next event of the same call, and the calls that each event makes; None stands for the world.
        self.next = [None] * len(rows)
        latest, self.callees = {}, {}
        for event, call in enumerate(calls):
            if call in latest:
                self.next[latest[call]] = event
            else:
                caller = int(rows[event][3]) - 1 if len(rows[event]) > 3 else None
                self.callees.setdefault(caller, []).append(event)
            latest[call] = event
        self.needed = [event for event, sign in enumerate(self.signs) if sign in STOPS]

    def name(self, event):
        return "event %d (%s)" % (event + 1, self.places[self.leaders[event]])


class Frame:
    """An open call; `event` is the latest of the recorded call that it repeats, None if it repeats none."""

    def __init__(self, sp, function):
        self.sp = sp
        self.function = function
        self.finished = False
        self.go_to(None)

    def go_to(self, event):
        self.event = event
        self.callees = [] if event is None else list(TABLE.callees.get(event, ()))


class Lockstep:
    """Decides at each arrival at a leader where the program goes on."""

    def __init__(self):
        self.frames = []
        self.roots = list(TABLE.callees.get(None, ()))

    def arrive(self, leader, sp):
        """Tells the leader to go on at, its event if it has one, and whether executions are left out."""
        entry, function = TABLE.kinds[leader] == "entry", TABLE.functions[leader]
        while self.frames and (
            self.frames[-1].finished or self.frames[-1].sp < sp or (entry and self.frames[-1].sp == sp)
        ):
            self.frames.pop()
        if entry:
            return leader, self.enter(leader, sp), False
        if all(frame.function != function for frame in self.frames):
            raise Left("control came to the middle of a function at " + TABLE.places[leader])
        while self.frames[-1].function != function:
            self.frames.pop()
        frame = self.frames[-1]
        found = (leader, None, False) if frame.event is None else self.go_on(frame, leader)
        frame.finished = TABLE.kinds[found[0]] == "epilogue"
        return found

    def enter(self, leader, sp):
        frame = Frame(sp, TABLE.functions[leader])
        caller = self.frames[-1] if self.frames else None
        self.frames.append(frame)
        if caller is not None and caller.event is None:
            return None
        waiting = caller.callees if caller else self.roots
        for place, event in enumerate(waiting):
            if TABLE.leaders[event] == leader:
                del waiting[: place + 1]
                frame.go_to(event)
                return event
            if CONTROL == "program":
                break
        if CONTROL == "program":
            raise Left("an unexpected call of " + TABLE.places[leader])
        return None

    def go_on(self, frame, leader):
        event = TABLE.next[frame.event]
        if event is None:
            raise Left("control went on behind the end of the call, at " + TABLE.places[leader])
        if CONTROL == "program":
            if leader != TABLE.leaders[event]:
                message = "after %s control went to %s instead of %s"
                expected = TABLE.places[TABLE.leaders[event]]
                raise Left(message % (TABLE.name(frame.event), TABLE.places[leader], expected))
            if frame.callees:
                raise Left("%s did not call what it called" % TABLE.name(frame.event))
        omitting = False
        while TABLE.signs[event] == OMITTED:
            omitting, event = True, TABLE.next[event]
            if event is None:
                raise Left("nothing of the call is left to go on at, at " + TABLE.places[leader])
        frame.go_to(event)
        return TABLE.leaders[event], event, omitting


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


class Slice:
    """The program under way, as far as the slice leads it."""

    def __init__(self):
        self.alive = False
        self.through = False
        self.has_arrived = False
        self.points = []
        gdb.events.exited.connect(self.exited)

    # The start.

    def begin(self):
        self.clear()
        self.load()
        self.lockstep, self.current, self.landing = Lockstep(), None, None
        self.sites, self.biases = {}, {}
        self.stdout, self.stderr = (Terminal if TERMINAL else Stream)("stdout"), Stream("stderr")
        gdb.execute("set exec-wrapper " + self.wrapper())
        quietly("starti")
        self.alive = True
        self.pid = gdb.selected_inferior().pid
        auxiliary = gdb.execute("info auxv", to_string=True)
        at = {key: int(value, 16) for key, value in re.findall(r" AT_(\w+) .* (0x[0-9a-f]+)", auxiliary)}
        gdb.selected_inferior().write_memory(at["RANDOM"], b"\x5a" * 16)
        self.stack = register("rsp")
        if POISON:
            self.grow_stack()
        self.catch("signal", "signalled")
        self.catch("exec", "replaced")
        if len(IMAGES) > 1:
            self.catch("load", "loaded")
        self.place(0, at["ENTRY"] - IMAGES[0][1])
        self.start()

    def start(self):
        """Leads to the first recorded execution: nobody wants to step through what the loader does before."""
        self.has_arrived = False
        self.through = True
        with Quiet():
            self.go_through(lambda: not self.has_arrived)
        self.through = False
        if self.has_arrived:
            at = "stripe: at %s; `continue` or `step` leads to the first needed execution\n"
            gdb.write(at % TABLE.places[TABLE.leaders[0]], gdb.STDERR)

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

    def grow_stack(self):
        """Lets the program make room for its stack: a debugger that writes to it cannot."""
        with open("/proc/%d/maps" % self.pid) as maps:
            end = next(int(line.split()[0].split("-")[1], 16) for line in maps if "[stack]" in line)
        soft = resource.prlimit(self.pid, resource.RLIMIT_STACK)[0]
        room = min(soft if soft > 0 else 8 << 20, 8 << 20) - (64 << 10)
        pc, rax = register("rip"), register("rax")
        inferior = gdb.selected_inferior()
        code = bytes(inferior.read_memory(pc, 3))
        inferior.write_memory(pc, b"\xc6\x00\x00")  # mov byte [rax], 0
        gdb.execute("set $rax = %d" % (end - room))
        quietly("stepi")
        inferior.write_memory(pc, code)
        gdb.execute("set $rax = %d" % rax)
        gdb.execute("set $pc = %d" % pc)

    def place(self, image, bias):
        self.biases[image] = bias
        for leader, address in enumerate(TABLE.addresses):
            if TABLE.images[leader] == image:
                self.sites[bias + address] = leader
                point = gdb.Breakpoint("*%d" % (bias + address), internal=True)
                point.commands = COMMANDS % "arrived"
                self.points.append(point)

    def loaded(self):
        """Libraries have been mapped."""
        with open("/proc/%d/maps" % self.pid) as maps:
            lines = [line.split(None, 5) for line in maps]
        for image, (path, base, _) in enumerate(IMAGES):
            starts = [int(line[0].split("-")[0], 16) for line in lines if line[5:] == [path + "\n"]]
            if image not in self.biases and starts:
                self.place(image, min(starts) - base)

    # What happens under way; each method tells why the user is to see it, if so.

    def arrived(self):
        """The program is at a leader."""
        pc, sp = register("rip"), register("rsp")
        leader = self.sites.get(pc)
        if leader is None:
            return None
        if gdb.selected_inferior().pid != self.pid:
            return "this run is not led along the slice: `slice begin` starts one that is"
        if self.landing is not None:
            event, self.landing = self.landing, None
            return self.executes(event)
        self.has_arrived = True
        if leader == self.current:
            return None
        try:
            at, event, omitting = self.lockstep.arrive(leader, sp)
        except Left as left:
            self.sites = {}
            return "the run has left the recorded path: %s" % left
        if TABLE.kinds[leader] == "entry":
            self.undefine_frame(leader, sp)
        if omitting:
            self.undefine_registers(TABLE.live[leader] & TABLE.live[at])
        self.current = at
        if at == leader:
            return self.executes(event)
        # The breakpoint there is the next stop.
        self.landing = event
        gdb.execute("set $pc = %d" % (self.biases[TABLE.images[at]] + TABLE.addresses[at]))
        return None

    def executes(self, event):
        """An event is next; the user sees those that are needed."""
        if self.through or event is None or TABLE.signs[event] not in STOPS:
            return None
        number, all_ = TABLE.needed.index(event) + 1, len(TABLE.needed)
        return "%s, %d of %d, %s" % (TABLE.name(event), number, all_, STOPS[TABLE.signs[event]])

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
        """The program has become another one, and nothing of that is part of the slice."""
        self.sites = {}
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

    # What is undefined.

    def undefine_frame(self, leader, sp):
        size = TABLE.frame_sizes[TABLE.functions[leader]]
        if not POISON or not size:
            return
        bottom = sp - size
        place = bottom - self.stack
        words = (undefined(place + offset) for offset in range(0, size, 4))
        content = b"".join(word.to_bytes(4, "little") for word in words)[:size]
        try:
            gdb.selected_inferior().write_memory(bottom, content)
        except gdb.MemoryError:
            pass

    def undefine_registers(self, live):
        if not POISON:
            return
        for number, (name, value) in enumerate(REGISTERS):
            if not live >> number & 1:
                gdb.execute("set $%s = %d" % (name, value))
        if not live >> len(REGISTERS) & 1:
            for number in range(16):
                for half in (0, 1):
                    gdb.execute("set $xmm%d.v2_int64[%d] = %d" % (number, half, VECTOR))

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
            raise gdb.GdbError("The program is not under way: `slice begin` starts it.")
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


def undefined(place):
    """The word that undefined memory at a place holds."""
    if not POISON_BASE:
        return 0
    return POISON_BASE ^ ((place >> 2 & 0xFFFFFFFF) * 0x9E3779B1 & 0xFFFFFFFF) >> 12


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
    SLICE.heeded = message
    gdb.set_convenience_variable("stripe_goes_on", int(not message and not SLICE.through))
    if message:
        SLICE.show(message)


class Command(gdb.Command):
    """Go through the critical slice; see `help slice`."""

    def __init__(self, name, documentation, action):
        self.__doc__ = documentation
        self.action = action
        super().__init__(name, gdb.COMMAND_RUNNING, prefix=action is None)

    def invoke(self, argument, from_tty):
        self.action()


TABLE = Table()
SLICE = Slice()
Command("slice", "Go through the critical slice with `continue`, or by these commands.", None)
Command("slice begin", "Start the program; `continue` leads to the first needed execution.", SLICE.begin)
Command("slice through", "Run to the end without a stop, and print what was written.", SLICE.run_through)
try:
    gdb.execute("set debuginfod enabled off")
except gdb.error:
    pass  # An older gdb asks nobody.
# `step` enters functions by the breakpoints at their traced statements alone, not by line information: that
# the C library may have, too.
gdb.execute("skip -gfi *", to_string=True)
# The wrapper is started by a shell.
os.environ["SHELL"] = "/bin/sh"
SLICE.begin()
