"""Generates walks of a debugger: lists of command lines for a small program.

A walk depends only on the program and the random numbers. Most lines have correct arguments, some
are slightly wrong or at a bound. No line depends on time, on the machine's folders or on a shell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random

from tests.small_programs import Small

COUNTS = (
    "",
    "",
    "1",
    "2",
    "2",
    "3",
    "5",
    "7",
    "13",
    "0",
    "-1",
    "40",
    "1000000",
    "0x3",
    "2 + 1",
    "x",
)
LETTERS = ("x", "d", "u", "o", "t", "c", "f", "a", "s", "i", "z", "q")
TYPES = ("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "f32", "f64", "bf16")
SIZES = ("", "", "b", "h", "w", "g")
OWN = ("bfp", "bfp_matrix", "tiles", "tiles_fp32", "tiles_bf16")
NUMBERS = (
    "0",
    "1",
    "-1",
    "7",
    "255",
    "0x7fff",
    "0x8000",
    "0xffffffff",
    "1 << 31",
    "1 << 32",
    "-32769",
    "1.5",
    "'A'",
    "1e30",
)
RUNS = ("step", "next", "stepi", "nexti", "stepc", "stepx")
BACK = (
    "reverse-step",
    "reverse-next",
    "reverse-stepi",
    "reverse-nexti",
    "reverse-stepc",
    "reverse-stepx",
)
INFO = (
    "cores", "registers", "queues", "boxes", "layers", "tensors", "perf", "breakpoints", "groups", "symbols", "mem",
    "frame", "line", "source", "sources", "functions", "variables", "address", "symbol", "program", "watchpoints",
    "display", "checkpoints",
)  # fmt: skip
PATTERNS = ("li", "[a-z]+:", "^$", "s0", "nothing like this", "(", "\\.", "end", "core")
PANELS = (
    "code",
    "registers",
    "queues",
    "output",
    "memory",
    "grid",
    "counters",
    "stalls",
    "timeline",
    "watches",
    "against",
    "x",
)


class Lines:
    """Makes lines for a program.

    Before each line, the caller sets `points`, the numbers of the present points, and `ended`,
    whether the program has ended.
    """

    def __init__(self, rng: Random, small: Small) -> None:
        self.rng = rng
        self.small = small
        self.points: list[int] = []
        self.ended = False
        self.files = 0

    # Operands

    def one(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def place(self) -> str:
        return self.rng.choice(self.small.places)

    def value(self) -> str:
        return self.rng.choice(self.small.values)

    def expression(self) -> str:
        """An expression; rarely one without a value."""
        kind = self.rng.randrange(12)
        if kind < 5:
            return self.value()
        if kind < 9:
            return self.rng.choice(self.small.arrays)
        if kind == 9:
            sign = self.one(
                "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "<", "&&", "!="
            )
            return f"{self.value()} {sign} {self.one(self.value(), *NUMBERS)}"
        if kind == 10:
            call = self.one("sum", "max", "min", "mean", "len", "count", "any", "all", "abs")
            return f"{call}({self.rng.choice(self.small.arrays)})"
        return self.one(
            "nothing",
            "1 / 0",
            "(",
            "$",
            "$_",
            "$1",
            "$bpnum",
            "$x",
            "1 +",
            "-",
            "$nothing",
            *NUMBERS,
        )

    def unit(self) -> str:
        return self.rng.choice(self.small.units)

    def cycle(self) -> str:
        last = self.small.cycles
        some = (0, 1, last // 3, last // 2, last - 1, last, last + 1, 10 * last, -1)
        return str(self.rng.choice(some) if self.chance(0.5) else self.rng.randrange(last))

    def goto(self) -> str:
        """Go to a cycle in which the core of interest mostly runs."""
        return f"goto {self.rng.randrange(self.small.begin, self.small.cycles)}"

    def point(self) -> str:
        """The number of a point: mostly of one that exists."""
        last = max(self.points, default=0)
        if not self.points or self.chance(0.12):
            return self.one("last", "0", "-1", str(last + 1), "x", "1001", "last 1")
        return str(self.rng.choice(self.points))

    def several(self) -> str:
        """Numbers or ranges of points."""
        first, last = min(self.points, default=1), max(self.points, default=1)
        return self.one(
            "", self.point(), self.point(), f"{self.point()} {self.point()}", f"{first}-{last}", f"{first}-{first}",
            f"{last}-{first}", f"{last}-{last + 1}", f"{first} {first}",
        )  # fmt: skip

    def count(self) -> str:
        return self.rng.choice(COUNTS)

    def format(self, counted: bool = False) -> str:
        """The suffix of `print` or `x`, with its slash, or nothing."""
        if self.chance(0.25):
            return ""
        number = (
            self.one("", "", "2", "3", "5", "9", "17", "0", "65537")
            if counted
            else self.one("", "", "", "", "2")
        )
        kind = self.rng.randrange(8)
        if kind < 5:
            return f"/{number}{self.rng.choice(LETTERS)}{self.rng.choice(SIZES)}"
        if kind < 7 or not counted:
            return f"/{number}{self.rng.choice(TYPES)}"
        return f"/{number}{self.rng.choice(OWN)}"

    def address(self) -> str:
        """An address, as `x` and `find` take them."""
        return self.one(
            self.place(),
            self.rng.choice(self.small.arrays),
            "pc",
            "sp",
            "0x10000",
            "$_",
            "0x80000000",
            "0",
        )

    def condition(self) -> str:
        kind = self.rng.randrange(9)
        if kind < 6:
            return ""
        if kind < 8:
            return f" if ({self.value()} & {self.one('1', '3')}) {self.one('==', '!=')} {self.one('0', '1', '2')}"
        return f" if {self.one('1', '0', 'nothing', '(', '', self.expression())}"

    # Commands: each gives one line or several

    def breakpoint(self) -> list[str]:
        name = self.one("break", "break", "tbreak", "b", "tb")
        place = "" if name in ("break", "b") and self.chance(0.1) else " " + self.place()
        where = f" at {self.unit()}" if self.chance(0.12) else ""
        ignore = (
            f" ignore {self.one('1', '1', '2', '3', '0', '-1', 'x')}" if self.chance(0.2) else ""
        )
        return [name + place + where + self.condition() + ignore]

    def watch(self) -> list[str]:
        name = self.one("watch", "watch", "watch", "rwatch", "awatch")
        what = self.one(
            self.value(),
            self.value(),
            self.rng.choice(self.small.registers),
            self.rng.choice(self.small.arrays),
        )
        by = f" by {self.unit()}" if self.chance(0.15) else ""
        return [f"{name} {what}{by}{self.condition()}"]

    def catch(self) -> list[str]:
        where = f" at {self.unit()}" if self.chance(0.3) else ""
        event = "rain" if self.chance(0.04) else self.rng.choice(self.small.events)
        return [f"{self.one('catch', 'catch', 'tcatch')} {event}{where}{self.condition()}"]

    def change_points(self) -> list[str]:
        kind = self.rng.randrange(9)
        if kind < 3:
            word = self.one("enable", "disable", "delete")
            what = (
                self.one("", "", "", " last", " display")
                if word != "delete"
                else self.one("", " last")
            )
            return [f"{word}{what} {self.several()}".rstrip()]
        if kind < 5:
            return [
                f"condition {self.point()}{self.one('', ' 0', ' 1', f' {self.value()} > 2', ' (')}"
            ]
        if kind < 7:
            return [f"ignore {self.point()} {self.one('0', '1', '2', '5', '-1', 's0', 'x', '1.5')}"]
        if kind == 7:
            return [f"clear {self.one('', self.place(), self.place())}".rstrip()]
        return [f"rbreak {self.rng.choice(PATTERNS)}"]

    def point_commands(self) -> list[str]:
        if self.chance(0.4):
            body = self.one(
                f"print {self.value()}",
                "continue",
                "silent; print 1; stepi",
                "info breakpoints",
                "nothing",
                "delete 1",
            )
            return [f"commands {self.one('', self.point())} {body}".replace("  ", " ")]
        lines = [
            self.one("silent", f"print {self.value()}", f"p {self.expression()}"),
            self.one("continue", "stepi 2", "x/2i pc"),
        ]
        return [
            f"commands {self.one('', self.point())}".rstrip(),
            *lines[: self.rng.randrange(3)],
            "end",
        ]

    def dprintf(self) -> list[str]:
        form = self.one(
            "here", "%d", "%x|%5d", "%s %s", "%-6d|%+d|%06.2f", "%c%c", "100%%", "%q", "%d %d %d"
        )
        values = "".join(f", {self.value()}" for _ in range(self.rng.randrange(3)))
        name = f"dprintf {self.place()}," if self.chance(0.6) else "printf"
        return [f'{name} "{form}\\n"{values}']

    def forward(self) -> list[str]:
        kind = self.rng.randrange(12)
        if kind < 5:
            return [f"{self.rng.choice(RUNS)} {self.count()}".rstrip()]
        if kind < 8:
            return [f"continue {self.one('', '', '', self.count())}".rstrip()]
        if kind == 8:
            return ["finish"]
        if kind == 9:
            return [f"until {self.one('', self.place())}".rstrip()]
        if kind == 10:
            return [f"advance {self.place()}"]
        return [
            self.one(
                "run",
                "start",
                "stepi 2 --only",
                "stepi --all",
                "stepi 3 --all",
                f"jump {self.place()}",
                "",
            )
        ]

    def back(self) -> list[str]:
        kind = self.rng.randrange(9)
        if kind < 5:
            return [f"{self.rng.choice(BACK)} {self.count()}".rstrip()]
        if kind < 7:
            return ["reverse-continue"]
        return [
            self.one(
                "reverse-finish",
                f"goto {self.cycle()}",
                f"goto {self.cycle()}",
                f"goto {self.cycle()} turn {self.one('0', '1', '2', '99')}",
            )
        ]

    def checkpoint(self) -> list[str]:
        return [
            self.one(
                f"checkpoint {self.one('', '', '2', '0', '-1')}".rstrip(),
                f"restart {self.one('1', '1', '2', '3', '0')}",
                "info checkpoints",
            )
        ]

    def show(self) -> list[str]:
        kind = self.rng.randrange(14)
        if kind < 4:
            return [
                f"print{self.format()} {self.one(self.expression(), self.value(), self.rng.choice(self.small.registers))}"
            ]
        if kind < 8:
            place = "" if self.chance(0.25) else " " + self.address()
            return [f"x{self.format(True)}{place}", *([""] if self.chance(0.2) else [])]
        if kind < 10:
            return [f"display{self.format()} {self.one(self.expression(), 'pc', '')}".rstrip()]
        if kind == 10:
            return [f"undisplay {self.one('', '1', '2', '9', '1 2', '1-2')}".rstrip()]
        if kind == 11:
            return [f"{self.one('whatis', 'ptype', 'output', 'output/x')} {self.expression()}"]
        if kind == 12:
            return [
                self.one(
                    "print",
                    "show values",
                    "show convenience",
                    "show user",
                    "print $",
                    "print $1 + 1",
                    "history 3",
                    "history 0",
                )
            ]
        return [f"print {self.value()} = {self.one(*NUMBERS)}"]

    def information(self) -> list[str]:
        what = self.rng.choice(INFO)
        if what in ("registers", "queues", "boxes", "groups", "cores", "perf"):
            more = self.one(
                "", "", self.unit(), self.unit(), self.rng.choice(self.small.registers), "nobody"
            )
        elif what in ("symbols", "functions", "variables"):
            more = self.one("", "o", "x$", "nothing", "(")
        elif what in ("line", "address", "symbol", "mem", "frame"):
            more = self.one("", self.place(), self.place(), self.address(), "nothing")
        else:
            more = self.one("", "", "", "all", "x")
        return [f"info {what} {more}".rstrip()]

    def listing(self) -> list[str]:
        source, last = self.small.source, len(str(self.small.files[self.small.source]).splitlines())
        number = self.rng.choice((0, 1, 2, 5, last // 2, last - 1, last, last + 1, last + 9))
        kind = self.rng.randrange(11)
        if kind < 3:
            return [
                f"list {self.one('', '', '-', self.place(), f'{source}:{number}', str(number))}".rstrip()
                for _ in range(self.rng.randint(1, 3))
            ]
        if kind < 5:
            return [
                f"list {self.one(f'{number},{number + 3}', f'{number},', f',{number}', f'{number},+3', f'{number + 3},{number}', f'{self.place()},{number}')}"
            ]
        if kind < 7:
            place = self.address()
            more = self.one(
                "", "", f",+{self.one('0', '4', '9', '-4')}", f",{place} + 12", f",{self.address()}"
            )
            return [
                f"disassemble{self.one('', '', '/r', '/s', '/m', '/rs', '/x')} {self.one('', place + more, place + more)}".rstrip()
            ]
        if kind < 9:
            return [
                f"{self.one('search', 'reverse-search', 'forward-search')} {self.rng.choice(PATTERNS)}"
                for _ in range(self.rng.randint(1, 3))
            ]
        return [
            self.one(
                "backtrace",
                "backtrace full",
                "bt 1",
                "bt -1",
                "bt 0",
                "bt x",
                "frame",
                "frame 1",
                "frame 0",
                "frame 9",
                "up",
                "up 2",
                "down",
                "up 0",
                "down -1",
                "up -1",
            )
        ]

    def data(self) -> list[str]:
        kind = self.rng.randrange(10)
        if kind < 4:
            return [
                f"set {self.one(self.value(), self.value(), self.rng.choice(self.small.registers), '$mine', self.rng.choice(self.small.arrays))} = {self.one(self.value(), *NUMBERS)}"
            ]
        if kind < 6:
            first = self.address()
            reach = self.one("+64", "+1", "+0", f"{first} + 40", "+-1", self.address())
            what = self.one(*NUMBERS, '"six"', "1, 0", "0x3c00, 0xc000", "")
            return [
                f"find{self.one('', '/b', '/h', '/w', '/g', '/b1', '/2h', '/h0', '/q')} {first}, {reach}, {what}",
                "print $numfound",
            ]
        self.files += 1
        name = f"f{self.files}.npy"
        what = self.one(self.value(), self.rng.choice(self.small.arrays))
        last = f"f{self.rng.randint(1, self.files)}.npy"
        if kind < 8:
            return [
                f"dump {what} {name}",
                f"diff {self.one(what, self.rng.choice(self.small.arrays))} {last}",
            ]
        return [f"{self.one('load', 'diff')} {what} {self.one(last, 'none.npy')}"]

    def causes(self) -> list[str]:
        kind = self.rng.randrange(6)
        if kind < 3:
            depth = self.one("", "", " depth 1", " depth 2", " depth 0", " depth -1", " depth 99")
            return [
                f"why {self.one(self.value(), self.value(), self.rng.choice(self.small.registers), self.rng.choice(self.small.arrays))}{depth}"
            ]
        if kind < 5:
            return [f"why-stalled {self.one('', '', self.unit())}".rstrip()]
        return [f"annotate {self.one('', '3', '1', '0', 'off', '50', '-1')}".rstrip()]

    def where(self) -> list[str]:
        kind = self.rng.randrange(7)
        if kind < 4:
            return [
                f"focus {self.one('', self.unit(), self.unit(), self.unit(), 'nobody', 'pe[')}".rstrip()
            ]
        core = self.one("cp", "vc", "dma", "0", "1", "2", "8", "16", "99", "pe[0]", "fim[0]", "")
        if kind < 6:
            return [f"thread {core}".rstrip()]
        return [
            f"thread apply {self.one('all', core or 'cp')} {self.one('print pc', 'info registers pc', 'x/i pc', 'nothing', 'bt')}"
        ]

    def screen(self) -> list[str]:
        kind = self.rng.randrange(6)
        if kind == 0:
            return [f"layout {self.one('', 'auto', 'small', 'medium', 'large', 'huge')}".rstrip()]
        if kind < 3:
            how = self.one(
                "", "show", "hide", "grow", "shrink", "grow 3", "shrink 9", "grow 0", "grow x"
            )
            return [f"panel {self.rng.choice(PANELS)} {how}".rstrip()]
        if kind == 3:
            return [f"zoom {self.one('', *PANELS)}".rstrip()]
        if kind == 4:
            return [
                f"heat {self.one('', self.value(), 'macs', 'q1.level', 'acc0', 'nothing')}".rstrip()
            ]
        return [
            self.one(
                "panel",
                "mouse",
                "mouse on",
                "mouse off",
                "pagination",
                "pagination off",
                "set height 0",
                "mouse maybe",
            )
        ]

    def rest(self) -> list[str]:
        kind = self.rng.randrange(9)
        if kind == 0:
            name = self.one("points", "session.macaw")
            return [
                f"save {self.one('breakpoints', 'session')} {name}",
                *([f"source {name}", "info breakpoints"] if self.chance(0.7) else []),
            ]
        if kind == 1:
            return [
                f"if {self.expression()}",
                f"print {self.value()}",
                *(["else", "echo no\\n"] if self.chance(0.5) else []),
                "end",
            ]
        if kind == 2:
            return [
                "set $n = 0",
                f"while $n < {self.one('0', '1', '3')}",
                self.one("stepi", "print $n"),
                "set $n = $n + 1",
                "end",
            ]
        if kind == 3:
            name = self.one("go", "look", "go-on", "list", "1x")
            return [f"define {name}", f"print {self.one('$arg0', '$argc', '$arg0 + $arg1', self.value())}", self.one("stepi $argc", "info line"), "end",
                    f"{name} {self.one('', '1', '2 3', 's0')}".rstrip(), *([f"document {name}", "what it does", "end", f"help {name}"] if self.chance(0.5) else [])]  # fmt: skip
        if kind == 4:
            return [
                f"alias {self.one('ct = continue', 'pa = print/x', 's = step', 'x', 'w =')}",
                self.one("ct", "pa 17", "w"),
            ]
        if kind == 5:
            return [
                f"complete {self.one('inf', 'info b', 'break l', 'print ', 'x/', 'focus p', 'panel g', 'catch d', 'help st', 'zz', 'delete ', 'why y w')}"
            ]
        if kind == 6:
            return [
                f"{self.one('help', 'apropos')} {self.one('stepc', 'catch', 'step', 'reverse', 'f', 'zz', 'x', 'why', 'info')}"
            ]
        if kind == 7:
            return ["echo " + self.one("a b", "tab\\tend\\n", "\\\\", "")]
        return [self.one("source none", "shell ls", "python 1", "frob", "st", "5", "info", "pri nt", "show version x", "show nothing", "quiet", "b", "/x", "set width 100", "set logging on", "file a.out", "info threads", "tui enable", "record", "record full", "kill", "list 1 2", "watch", "thread")]  # fmt: skip


MIXED: Mapping[str, int] = {
    "breakpoint": 9, "watch": 8, "catch": 4, "change_points": 9, "point_commands": 3, "dprintf": 3, "forward": 22, "back": 10,
    "checkpoint": 3, "show": 12, "information": 10, "listing": 8, "data": 6, "causes": 3, "where": 4, "screen": 2, "rest": 4,
}  # fmt: skip
POINTS: Mapping[str, int] = {
    "breakpoint": 10, "watch": 12, "catch": 6, "change_points": 12, "point_commands": 3, "dprintf": 2, "forward": 26, "back": 14,
    "checkpoint": 2, "where": 3, "listing": 2, "data": 3,
}  # fmt: skip
LOOKS: Mapping[str, int] = {
    "forward": 14, "back": 4, "show": 30, "information": 16, "listing": 14, "data": 12, "where": 6, "rest": 4, "causes": 3,
}  # fmt: skip


def walk(lines: Lines, kinds: Mapping[str, int] = MIXED) -> Iterator[str]:
    """Yield the lines of a walk of about 10 to 25 commands, of kinds with the weights `kinds`."""
    rng, small = lines.rng, lines.small
    yield f"focus {small.focus}"
    yield from rng.choice(
        ([], [lines.goto()], [lines.goto()], [lines.goto(), "stepi 2"], ["continue"])
    )
    names = [name for name, weight in kinds.items() for _ in range(weight)]
    for _ in range(rng.randint(10, 20)):
        if lines.ended and rng.random() < 0.5:
            yield rng.choice(("start", "reverse-continue", "run", lines.goto(), lines.goto()))
        elif lines.ended and rng.random() < 0.5:
            yield from lines.back()
        make: Callable[[], list[str]] = getattr(lines, rng.choice(names))
        yield from make()
