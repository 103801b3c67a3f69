# The rules of stripe's replay once more, by gdb's means: a breakpoint at each statement, and `set $pc` where
# executions are left out.

OMITTED = "-"
STOPS = {"*": "needed for its effect", "o": "needed only as a decision"}


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


class Slice(Process):
    """The program under way, as far as the slice leads it."""

    BEGIN = "slice begin"

    def __init__(self):
        super().__init__()
        self.has_arrived = False

    # The start.

    def begin(self):
        self.lockstep, self.current, self.landing = Lockstep(), None, None
        self.sites, self.biases = {}, {}
        bias = self.launch()
        self.stack = register("rsp")
        if POISON:
            self.grow_stack()
        if len(IMAGES) > 1:
            self.catch("load", "loaded")
        self.place(0, bias)
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
                self.stop_at(bias + address, "arrived")

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

    def replaced(self):
        self.sites = {}
        return super().replaced()

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


def undefined(place):
    """The word that undefined memory at a place holds."""
    if not POISON_BASE:
        return 0
    return POISON_BASE ^ ((place >> 2 & 0xFFFFFFFF) * 0x9E3779B1 & 0xFFFFFFFF) >> 12


TABLE = Table()
PROCESS = Slice()
Command("slice", "Go through the critical slice with `continue`, or by these commands.", None)
Command("slice begin", "Start the program; `continue` leads to the first needed execution.", PROCESS.begin)
Command("slice through", "Run to the end without a stop, and print what was written.", PROCESS.run_through)
# `step` enters functions by the breakpoints at their traced statements alone, not by line information: that
# the C library may have, too.
gdb.execute("skip -gfi *", to_string=True)
PROCESS.begin()
