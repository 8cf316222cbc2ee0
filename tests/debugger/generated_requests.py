"""Generates requests of an editor (DAP) and packets of gdb for a small program.

The arguments are correct, at bounds, or slightly wrong. Numbers of frames and variables are those
of earlier answers, which the caller gives to the generator.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tests.small_programs import Small

COUNTS = (0, 0, 1, 2, 3, 5, 100, -1, 1 << 20)
SIZES = (0, 1, 2, 4, 7, 16, 64, 4096, -1)
STEPS = ("continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue")
LOOKS = (
    "stackTrace",
    "scopes",
    "variables",
    "variables",
    "variables",
    "evaluate",
    "readMemory",
    "disassemble",
    "threads",
)


class Requests:
    """Makes requests; `frames`, `variables`, `threads` and `data` are from earlier answers."""

    def __init__(self, rng: Random, small: Small) -> None:
        self.rng = rng
        self.small = small
        self.frames: list[int] = [1]
        self.variables: list[int] = [1]
        self.names: list[str] = ["a0"]
        self.threads: list[int] = [1]
        self.data: list[str] = ["cp|a0"]

    def maybe(self, **arguments: Any) -> dict[str, Any]:
        """Some of these arguments."""
        return {key: value for key, value in arguments.items() if self.rng.random() < 0.45}

    def expression(self) -> str:
        some = (
            self.small.values,
            self.small.values,
            self.small.arrays,
            self.small.registers,
            ("nothing", "1 / 0", ""),
        )
        return self.rng.choice(self.rng.choice(some))

    def address(self) -> str:
        return self.rng.choice(
            (
                "0x10000",
                "0x00010020",
                "0x80000000",
                "0x80000040",
                "0x0",
                "0xffffffff",
                "0x10000024",
                "0x30300010",
                "0x30800008",
                "nothing",
            )
        )

    def line(self) -> int:
        last = len(str(self.small.files[self.small.source]).splitlines())
        return self.rng.choice(
            (0, 1, last // 2, last - 5, last, last + 1, self.rng.randint(1, last))
        )

    def thread(self) -> int:
        return 99 if self.rng.random() < 0.05 else self.rng.choice(self.threads)

    def condition(self) -> dict[str, Any]:
        return self.maybe(
            condition=self.rng.choice(
                (f"{self.rng.choice(self.small.values)} != 0", "0", "(", "1")
            ),
            hitCondition=self.rng.choice(("1", "2", ">2", "0", "x", "% 2")),
            logMessage=self.rng.choice(("here", "{device.cycle} {nothing}", "{", "{1}}")),
        )

    def request(self) -> tuple[str, dict[str, Any]]:
        """A command and its arguments."""
        rng = self.rng
        kind = rng.choice((*LOOKS, *STEPS, "points", "points", "points", "rest", "rest"))
        if kind == "points":
            return self.points()
        if kind == "rest":
            return self.rest()
        if kind in STEPS:
            more = self.maybe(granularity=rng.choice(("instruction", "line", "statement", "page")))
            return kind, {"threadId": self.thread(), **(more if "ontinue" not in kind else {})}
        if kind == "stackTrace":
            return kind, {
                "threadId": self.thread(),
                **self.maybe(startFrame=rng.choice(COUNTS), levels=rng.choice(COUNTS)),
            }
        if kind == "scopes":
            return kind, {"frameId": rng.choice(self.frames)}
        if kind == "variables":
            more = self.maybe(
                start=rng.choice(COUNTS),
                count=rng.choice(COUNTS),
                filter=rng.choice(("named", "indexed", "x")),
            )
            return kind, {
                "variablesReference": rng.choice(self.variables),
                **more,
                **self.maybe(format={"hex": True}),
            }
        if kind == "evaluate":
            context = self.maybe(context=rng.choice(("watch", "hover", "clipboard", "variables")))
            return kind, {
                "expression": self.expression(),
                **context,
                **self.maybe(frameId=rng.choice(self.frames), format={"hex": True}),
            }
        if kind == "readMemory":
            return kind, {
                "memoryReference": self.address(),
                "count": rng.choice(SIZES),
                **self.maybe(offset=rng.choice((0, 4, -4, 1 << 31, -(1 << 31)))),
            }
        if kind == "disassemble":
            more = self.maybe(
                offset=rng.choice((0, 4, 2, -4)),
                instructionOffset=rng.choice((0, 1, -1, -3, 1000, -1000)),
                resolveSymbols=True,
            )
            return kind, {
                "memoryReference": self.address(),
                "instructionCount": rng.choice((0, 1, 2, 5, 9)),
                **more,
            }
        return kind, {}

    def points(self) -> tuple[str, dict[str, Any]]:
        """A request that sets breakpoints."""
        rng = self.rng
        kind = rng.randrange(6)
        if kind == 0:
            rows = [{"line": self.line(), **self.condition()} for _ in range(rng.randrange(4))]
            name = self.small.source if rng.random() < 0.9 else "nothing.s"
            return "setBreakpoints", {"source": {"path": name}, "breakpoints": rows}
        if kind == 1:
            rows = [
                {"name": rng.choice(self.small.places), **self.condition()}
                for _ in range(rng.randrange(3))
            ]
            return "setFunctionBreakpoints", {"breakpoints": rows}
        if kind == 2:
            rows = [
                {
                    "instructionReference": self.address(),
                    **self.maybe(offset=rng.choice((0, 4, -4, 2))),
                    **self.condition(),
                }
                for _ in range(rng.randrange(3))
            ]
            return "setInstructionBreakpoints", {"breakpoints": rows}
        if kind == 3:
            filters = [rng.choice((*self.small.events, "rain")) for _ in range(rng.randrange(3))]
            return "setExceptionBreakpoints", {
                "filters": filters,
                "filterOptions": [
                    {"filterId": rng.choice(self.small.events), "condition": "device.cycle > 50"}
                ]
                if rng.random() < 0.3
                else [],
            }
        if kind == 4:
            where = self.maybe(frameId=rng.choice(self.frames))
            if rng.random() < 0.3:
                return "dataBreakpointInfo", {
                    "name": self.address(),
                    "asAddress": True,
                    **self.maybe(bytes=rng.choice((1, 4, 8, 0, 70000))),
                }
            if rng.random() < 0.4:
                return "dataBreakpointInfo", {
                    "name": rng.choice(self.names),
                    "variablesReference": rng.choice(self.variables),
                }
            return "dataBreakpointInfo", {"name": self.expression(), **where}
        rows = [
            {
                "dataId": rng.choice(self.data),
                **self.maybe(accessType=rng.choice(("read", "write", "readWrite", "x"))),
                **self.condition(),
            }
            for _ in range(rng.randint(1, 2))
        ]
        return "setDataBreakpoints", {"breakpoints": rows}

    def rest(self) -> tuple[str, dict[str, Any]]:
        """A rarer request."""
        rng = self.rng
        some: tuple[tuple[str, dict[str, Any]], ...] = (
            (
                "setVariable",
                {
                    "variablesReference": rng.choice(self.variables),
                    "name": rng.choice(self.names),
                    "value": rng.choice(("1", "-1", "0x7f", "nothing", "a0")),
                },
            ),
            (
                "setExpression",
                {
                    "expression": self.expression(),
                    "value": rng.choice(("1", "-1", "1 << 40", "1.5", "x")),
                },
            ),
            (
                "completions",
                {
                    "text": (text := rng.choice(("info b", "print ", "x", "focus p", "st"))),
                    "column": rng.choice((0, 1, len(text), len(text) + 1, 99)),
                },
            ),
            (
                "breakpointLocations",
                {
                    "source": {"path": self.small.source},
                    "line": self.line(),
                    **self.maybe(endLine=self.line()),
                },
            ),
            ("gotoTargets", {"source": {"path": self.small.source}, "line": self.line()}),
            (
                "goto",
                {
                    "threadId": self.thread(),
                    "targetId": rng.choice((0x10000, 0x10008, 0x80000060, 0, 1)),
                },
            ),
            (
                "writeMemory",
                {
                    "memoryReference": self.address(),
                    "data": rng.choice(("AQI=", "", "AAAAAAAA", "x")),
                    **self.maybe(offset=rng.choice((0, 1, -1)), allowPartial=True),
                },
            ),
            (
                "source",
                {
                    "source": {"path": rng.choice((self.small.source, "nothing.s"))},
                    "sourceReference": rng.choice((0, 1, 9)),
                },
            ),
            ("loadedSources", {}),
            ("exceptionInfo", {"threadId": self.thread()}),
            ("macaw/queues", self.maybe(places=rng.choice(self.small.units))),
            (
                "macaw/grid",
                self.maybe(expression=rng.choice(("macs", "acc0", "q1.level", "nothing"))),
            ),
            (
                "macaw/why",
                {"expression": self.expression(), **self.maybe(depth=rng.choice((0, 1, 2, 50)))},
            ),
            (
                "evaluate",
                {
                    "expression": rng.choice(
                        ("info cores", "display a0", "stepi 2", "delete", "nothing", "bt")
                    ),
                    "context": "repl",
                },
            ),
        )
        return rng.choice(some)

    def note(self, body: Any) -> None:
        """Keep the numbers and names of an answer for later requests."""
        if not isinstance(body, dict):
            return
        self.frames += [row["id"] for row in body.get("stackFrames", ())]
        for row in (*body.get("scopes", ()), *body.get("variables", ())):
            if row["variablesReference"]:
                self.variables.append(row["variablesReference"])
            self.names.append(row["name"])
        self.threads = [row["id"] for row in body.get("threads", ())] or self.threads
        if body.get("dataId"):
            self.data.append(body["dataId"])

    def forget(self) -> None:
        """Forget numbers that a run has made invalid; one old number remains, which is wrong now."""
        self.frames, self.variables = self.frames[-1:], self.variables[-1:]


def packet(rng: Random, small: Small) -> str:
    """A packet of gdb's remote protocol."""
    address = rng.choice(
        (
            0x10000,
            0x10004,
            0x10028,
            0x10002,
            0x80000000,
            0x80000040,
            0x80000060,
            0,
            0x7FFFFFFF,
            0xFFFFFFFF,
            0x20000100,
        )
    )
    size = rng.choice((0, 1, 2, 4, 8, 64, 0x10000))
    thread = rng.choice(("0", "-1", "1", "2", "3", "9", "63", "x", ""))
    register = rng.choice((0, 1, 2, 8, 10, 31, 32, 33, 64, 65, 100, 1000, 100000))
    data = bytes(rng.randrange(256) for _ in range(rng.choice((0, 1, 4, 4, 8))))
    sent = rng.choice((len(data), len(data), len(data) + 1))
    kind = rng.choice("01234")
    name = rng.choice(("target.xml", "cp.xml", "threads", "nothing", ""))
    return rng.choice(
        (
            "?", "g", f"p{register:x}", f"p{register:x}", f"P{register:x}={data.hex()}", f"m{address:x},{size:x}", f"m{address:x},{size:x}",
            f"M{address:x},{sent:x}:{data.hex()}", f"X{address:x},{sent:x}:{data.decode('latin-1')}", f"G{(data * 9).hex()}", rng.choice((f"m{address:x}", "mx,y", "Z5,0,4", "Z0,0", "qNothing", "qRcmd,zz", "!")),
            "c", "c", "s", "s", "s", "bs", "bs", "bc", f"c{address:x}", f"vCont;s:{thread}", "vCont;c", f"vCont;s:{thread};c", f"vCont;r{address:x},{address + 16:x}:1", "vCont?", "vCont;x",
            f"Z{kind},{address:x},{rng.choice((1, 2, 4, 8)):x}", f"Z{kind},{address:x},4", f"Z{kind},{address:x},4", f"z{kind},{address:x},4",
            f"Hg{thread}", f"Hc{thread}", f"T{thread}", "qC", "qfThreadInfo", "qsThreadInfo", f"qThreadExtraInfo,{thread}", "qAttached",
            f"qXfer:features:read:{name}:{rng.choice((0, 1, 20, 1 << 20)):x},{rng.choice((0, 20, 0xFFB)):x}", f"qXfer:threads:read::0,{size:x}", "qXfer:features:write:x:0,0",
            f"qRcmd,{rng.choice(('info cores', 'stepi 3', 'nothing', 'print ' + rng.choice(small.values), 'break ' + rng.choice(small.places), 'goto 30')).encode().hex()}",
            rng.choice(("R00", "R00", "vKill;1", "k")),
        )
    )  # fmt: skip
