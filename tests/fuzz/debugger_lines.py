"""Fuzzes sessions of the debugger with valid, damaged and generated lines.

An example is a text: its first line names a program and an engine; each other line is a command.
Each command must have an answer that can be shown and is JSON; an error must be one clear sentence.
Files are kept in memory. A run that takes too long is interrupted, as by Ctrl-C.
"""

from __future__ import annotations

import gc
import json
import resource
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.asm.program import Program
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.line import CommandError
from macaw.debugger.commands.table import COMMANDS, Command
from macaw.debugger.commands.text import answer_text
from macaw.debugger.commands.usage import Piece, pieces
from macaw.debugger.session import Session
from macaw.emu.engines import ENGINES
from macaw.execution import configuration_of
from tests.debugger.lines import OPERANDS
from tests.debugger.transcripts import program_and_inputs
from tests.fuzz import mutate
from tests.fuzz.target import Example, Target, require, sentence

PROGRAMS = ("calls.s", "stuck.s", "layer", "vector_dot", "fim_dot", "nnp_softmax")
PATIENCE = 0.5  # seconds after which a run is interrupted
SECONDS = 10.0  # of processor time for an example
MEMORY = 1 << 30  # bytes
MOST_LINES = 24
SUFFIXES: tuple[str, ...] = (
    "x",
    "d",
    "u",
    "o",
    "t",
    "c",
    "f",
    "a",
    "s",
    "i",
    "f16",
    "u8",
    "i64",
    "f64",
    "bfp",
)
SUFFIXES += (
    "tiles",
    "bfp_matrix",
    "tiles_fp32",
    "3x",
    "4dw",
    "99xg",
    "5i",
    "2s",
    "1000000x",
    "0",
    "fh",
)
ATOMS: tuple[str, ...] = (
    "0",
    "1",
    "-1",
    "7",
    "0x7fffffff",
    "0x80000000",
    "0xffffffffffffffff",
    "1 << 63",
    "1e999",
    "1e308",
    "0.5",
)
ATOMS += (
    "1e-400",
    "nan",
    "inf",
    "'a'",
    '"a"',
    "s0",
    "a0",
    "pc",
    "sp",
    "vc.x5",
    "vc.vr0",
    "vc.vr0.f32",
    "y",
    "y[0]",
    "y[0, 1]",
)
ATOMS += (
    "y[*]",
    "y[0:2]",
    "y[:, 1]",
    "y.u8[3]",
    "x",
    "loop",
    "_start",
    "data",
    "mem[y]",
    "mem[0x10000].u64",
    "device.cycle",
)
ATOMS += (
    "pe[0,0].1.q1",
    "pe[*,*].*.macs",
    "pe[0,0].0.acc0",
    "pe[0,1].2.box503",
    "pe[0,0].*.weight_queue.entries",
)
ATOMS += (
    "pe[0].packet",
    "pe[0].runs",
    "fim[0].bank[3].rz.f16",
    "fim[0].blocks",
    "fim[0].b0_start",
    "nnp.NetInQ",
    "nnp.chain",
)
ATOMS += (
    "nnp.AddSubVrf0",
    "nnp.mul_vrf[0]",
    "dma.transfers",
    "dma.beats",
    "cp.waiting",
    "cp.trace_counters",
    "cp.id",
    "$s0",
)
FUNCTIONS = (
    "sum",
    "max",
    "min",
    "mean",
    "any",
    "all",
    "count",
    "len",
    "abs",
    "%hi",
    "%lo",
    "sizeof",
    "slot",
    "none",
)
SIGNS = (
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "&",
    "|",
    "^",
    "==",
    "!=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
)


class Kept:
    """Files in memory."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {"y.npy": np.arange(6, dtype=np.int16).reshape(2, 3)}
        self.texts = {"good.script": "stepi\nprint s0\n", "wrong.script": "stepi\nnothing\n"}

    def read_array(self, path: str) -> NDArray[Any]:
        """Return an array that was written."""
        if path not in self.arrays:
            raise CommandError("there is no such array")
        return self.arrays[path]

    def read_arrays(self, path: str) -> dict[str, NDArray[Any]]:
        """Return the array under the name `all`, as if its file had several arrays."""
        return {"all": self.read_array(path)}

    def write_array(self, path: str, array: NDArray[Any]) -> None:
        """Keep the array under this name."""
        self.arrays[path] = array.copy()

    def read_text(self, path: str) -> str:
        """Return a text that was written."""
        if path not in self.texts:
            raise CommandError("there is no such text")
        return self.texts[path]

    def exists(self, path: str) -> bool:
        """Whether a text has this name."""
        return path in self.texts

    def write_text(self, path: str, text: str) -> None:
        """Keep the text under this name."""
        self.texts[path] = text


@cache
def begin(name: str) -> tuple[Program, Mapping[str, Any], dict[str, Any]]:
    """A program, its device and its inputs, read once for each name."""
    loads, inputs = program_and_inputs(name)
    config = configuration_of(loads)
    Session(loads, config, inputs)  # the modules that it imports stay in memory
    gc.collect()
    gc.freeze()
    return loads, config, inputs


# Making


def expression(rng: Random, depth: int = 0) -> str:
    """A random expression of the grammar."""
    kind = rng.randrange(9) if depth < 6 else 0
    if kind < 3:
        return rng.choice(ATOMS)
    if kind < 6:
        left, right = expression(rng, depth + 1), expression(rng, depth + 1)
        return f"{left} {rng.choice(SIGNS)} {right}"
    if kind == 6:
        some = (expression(rng, depth + 1) for _ in range(rng.choice((1, 1, 2, 3))))
        return f"{rng.choice(FUNCTIONS)}({', '.join(some)})"
    if kind == 7:
        return f"{rng.choice('-+~!(')}{expression(rng, depth + 1)}"
    if rng.random() < 0.1:
        count = rng.choice((50, 300, 3000))
        return rng.choice(
            ("(" * count + "1" + ")" * count, "-" * count + "1", "+".join("1" * count))
        )
    return f"{rng.choice(ATOMS)}[{expression(rng, depth + 1)}]"


def operand(rng: Random, name: str) -> str:
    """A text for an operand of a command's usage."""
    if name in ("E", "V") and rng.random() < 0.7:
        return expression(rng)
    if name == "TEXT" and rng.random() < 0.3:
        widths = "".join(rng.choice("%0123456789.*-#dxfscge ") for _ in range(rng.randrange(12)))
        return f'loop, "{widths}", {expression(rng)}'
    if name == "PLACES" and rng.random() < 0.3:
        return rng.choice(("pe[0,0].1", "pe[1,*]", "fim[*].*", "dma, cp", "pe[0..1,0].0..3"))
    return rng.choice(OPERANDS[name])


def piece(rng: Random, one: Piece) -> str:
    """A text for one piece of a usage; optional pieces are sometimes left out."""
    if one.optional and rng.random() < 0.5:
        return ""
    count = rng.choice((1, 1, 2, 3)) if one.several else 1
    return " ".join(_once(rng, one) for _ in range(count))


def _once(rng: Random, one: Piece) -> str:
    if one.group:
        return " ".join(piece(rng, part) for part in one.group)
    if one.operand and (not one.words or rng.random() < 0.6):
        return operand(rng, one.operand)
    return rng.choice(one.words)


def whole(rng: Random, row: Command) -> str:
    """A line that fits the usage of a command."""
    name = rng.choice(row.names)
    if rng.random() < 0.05:
        name = name[: rng.randrange(1, len(name) + 1)]
    if row.suffix and rng.random() < 0.4:
        name += f"/{rng.choice(SUFFIXES)}"
    return " ".join([name, *(piece(rng, one) for one in pieces(row.usage))])


_ROWS = [row for row in COMMANDS.values() if row.name not in ("quit", "shell", "python")]
_FREQUENT = [row for row in _ROWS if row.group in ("run", "back", "stop", "look", "data")]


def line(rng: Random) -> str:
    """A line, perhaps damaged."""
    found = whole(rng, rng.choice(_FREQUENT if rng.random() < 0.7 else _ROWS))
    if rng.random() < 0.25:
        for _ in range(mutate.several(rng)):
            at = rng.randrange(len(found) + 1)
            end = min(len(found), at + rng.randrange(6))
            new = rng.choice(("", found[at:end] * 2, mutate.character(rng), rng.choice(ATOMS)))
            found = found[:at] + new + found[end:]
    return found.replace("\n", " ")


def make(rng: Random) -> Example[str]:
    """An example: a program, an engine, and lines."""
    head = f"{rng.choice(PROGRAMS)} {rng.choice(ENGINES)}"
    lines = [line(rng) for _ in range(rng.randrange(1, MOST_LINES + 1))]
    if rng.random() < 0.6:
        lines.insert(
            0, rng.choice(("goto 120", "goto 300", "stepi 9", "focus pe[0,0].0", "focus vc", "run"))
        )
    text = "\n".join([head, *lines])
    return Example(text, text)


# Checking


@contextmanager
def interrupted(session: Session) -> Iterator[None]:
    """Interrupt the session after each `PATIENCE` seconds for which the `with` block runs."""

    def ask(_number: int, _frame: FrameType | None) -> None:
        session.interrupt()

    before: Callable[[int, FrameType | None], Any] | int | None = signal.signal(signal.SIGALRM, ask)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _peak() -> int:
    """Return the greatest number of bytes of memory that the process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _resident() -> int:
    """Return the bytes of memory that the process has now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize()


def check(example: Example[str]) -> str:
    """Execute the lines; return "accepted", "refused", or "both" if some were refused."""
    head, *lines = example.data.split("\n")
    words = head.split()
    name = words[0] if words and words[0] in PROGRAMS else PROGRAMS[0]
    engine = words[1] if len(words) > 1 and words[1] in ENGINES else ENGINES[0]
    loads, config, inputs = begin(name)
    resident, peak = _resident(), _peak()
    session = Session(loads, config, inputs, engine)
    interpreter = Interpreter(session, Kept())
    refused = 0
    with interrupted(session):
        for text in lines:
            session.interrupts.take()
            answer = interpreter.execute(text)
            json.dumps(answer.json(), allow_nan=False)
            answer_text(answer, text.strip())
            if answer.kind == "error":
                refused += 1
                sentence(answer.message, text)
            if len(text) < 200:
                interpreter.complete(text)
    del interpreter, session
    gc.collect()  # a device that nobody has any more gives its address space back
    # Of a process that has run other tests, only a new peak is this session's.
    used = _peak() - resident if _peak() > peak else 0
    require(used < MEMORY, "more than 1 GiB", f"{used >> 20} MiB")
    return "refused" if refused == len(lines) else "accepted" if not refused else "both"


TARGET = Target("debugger", make, check, seconds=SECONDS)
