# The changes by gdb's means: a breakpoint, a count of arrivals, and `set $pc`.

# Whether a conditional jump jumps, by the upper three bits of its condition; the lowest one says the opposite.
CONDITIONS = (
    lambda flags: flags("OF"),
    lambda flags: flags("CF"),
    lambda flags: flags("ZF"),
    lambda flags: flags("CF") or flags("ZF"),
    lambda flags: flags("SF"),
    lambda flags: flags("PF"),
    lambda flags: flags("SF") != flags("OF"),
    lambda flags: flags("ZF") or flags("SF") != flags("OF"),
)
BITS = {"CF": 0, "PF": 2, "ZF": 6, "SF": 7, "OF": 11}


class Write:
    """What a store writes instead: where, of which kind, and how it is made of the value."""

    def __init__(self, text):
        next_address, self.base, self.index, scale, displacement, self.format, self.how, number = text.split(",")
        self.next, self.scale, self.number = int(next_address, 16), int(scale), int(number)
        self.displacement = int(displacement)
        self.size = struct.calcsize("<" + self.format)

    def address(self, bias):
        """Where it writes with the registers before it."""
        base = {"file": bias, "-": 0}.get(self.base)
        base = register(self.base) if base is None else base
        index = 0 if self.index == "-" else register(self.index) * self.scale
        return (base + index + self.displacement) % 2**64

    def new(self, old, written):
        """The bytes in place of those that it has written."""
        if self.how == "old":
            return old
        (value,) = struct.unpack("<" + self.format, written)
        value = {"number": self.number, "plus": value + self.number, "negated": -value}[self.how]
        if self.format in "fd":
            return struct.pack("<" + self.format, value)
        return (int(value) % 2 ** (8 * self.size)).to_bytes(self.size, "little")


class Change:
    """A change: at which executions of which place, and where control goes instead."""

    def __init__(self, row):
        words = row.split(None, 4)
        self.kind, address, execution, target, self.told = words
        self.address = int(address, 16)
        self.execution = None if execution == "all" else int(execution)
        self.write = Write(target) if self.kind == "write" else None
        self.target = None if self.write or target == "-" else int(target, 16)

    def is_due(self, arrivals):
        return self.execution is None or self.execution == arrivals


NONE = "There is no change that makes the output right or brings it nearer."
CHANGES = [Change(row) for row in ROWS.splitlines() if row]


class Repair(Process):
    """The program under way, with one change."""

    BEGIN = "repair begin"

    def begin(self, number=None):
        self.prepare(number)
        gdb.write("stripe: %s\n`continue` leads to it\n" % self.change.told)

    def run_changed(self, number=None):
        self.prepare(number)
        self.run_through()

    def prepare(self, number):
        self.change = chosen(number)
        self.arrivals, self.is_over, self.writing = 0, False, None
        self.bias = self.launch()
        self.stop_at(self.bias + self.change.address, "arrived")
        if self.change.write:
            self.stop_at(self.bias + self.change.write.next, "written")
        if FORKS and self.change.execution is None:
            gdb.write(
                "stripe: the program starts processes, and in those gdb changes nothing: what they print may be "
                "something else than stripe has seen\n",
                gdb.STDERR,
            )

    def arrived(self):
        """The program is at the place of the change."""
        change = self.change
        if self.is_over or register("rip") != self.bias + change.address:
            return None
        self.arrivals += 1
        if not change.is_due(self.arrivals):
            return None
        self.is_over = change.execution is not None
        if change.write:
            place = change.write.address(self.bias)
            self.writing = place, bytes(gdb.selected_inferior().read_memory(place, change.write.size))
            return None
        target = change.target if change.target is not None else self.other_way()
        gdb.execute("set $pc = %d" % (self.bias + target))
        return None if self.through else "execution %d: %s" % (self.arrivals, change.told)

    def written(self):
        """The program is behind the store of the change."""
        write = self.change.write
        if self.writing is None or register("rip") != self.bias + write.next:
            return None
        (place, old), self.writing = self.writing, None
        memory = gdb.selected_inferior()
        memory.write_memory(place, write.new(old, bytes(memory.read_memory(place, write.size))))
        return None if self.through else "execution %d: %s" % (self.arrivals, self.change.told)

    def other_way(self):
        """Where the conditional jump would not lead."""
        address = self.bias + self.change.address
        code = bytes(gdb.selected_inferior().read_memory(address, 6))
        is_near = code[0] == 0x0F
        condition, length = code[is_near] & 0xF, 6 if is_near else 2
        distance = int.from_bytes(code[2:6] if is_near else code[1:2], "little", signed=True)
        eflags = register("eflags")
        holds = CONDITIONS[condition >> 1](lambda flag: bool(eflags >> BITS[flag] & 1)) != bool(condition & 1)
        change = self.change.kind
        jumps = {"flip": not holds, "always": True, "never": False}[change]
        return self.change.address + length + (distance if jumps else 0)


def chosen(number):
    """The change of a number that was typed."""
    if not CHANGES:
        raise gdb.GdbError(NONE)
    try:
        number = int(number)
        if number < 1:
            raise IndexError
        return CHANGES[number - 1]
    except (TypeError, ValueError, IndexError):
        raise gdb.GdbError("Name a change by its number, 1 to %d: `repair list` shows them." % len(CHANGES))


def show_all(stream=gdb.STDOUT):
    for number, change in enumerate(CHANGES):
        gdb.write("%3d  %s\n" % (number + 1, change.told), stream)
    if not CHANGES:
        gdb.write(NONE + "\n", stream)


PROCESS = Repair()
Command("repair", "Make a change that repairs the run: `repair begin N`, `repair through N`.", None)
Command("repair list", "Show the changes with their numbers.", show_all)
Command("repair begin", "Start the program; `continue` leads to the change of this number.", PROCESS.begin, 1)
Command(
    "repair through",
    "Run to the end with the change of this number, and print what was written.",
    PROCESS.run_changed,
    1,
)
show_all(gdb.STDERR)
