"""Collects code of the SIMD core vc as instructions and counted loops; predicts its cycles.

The prediction follows the rules of docs/timing-vc.md: instructions issue in order, each when the
registers that it names are ready. The prediction simulates iterations of a loop until two of them
take the same cycles, and make the next iteration wait for registers in the same way. The remaining
iterations count as equal to these two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.vector import CORE
from macaw.isa.vector_layouts import ELEMENTS, VECTOR_BYTES
from macaw.lowering.listing import Listing

_REGISTER = re.compile(r"\b(?:vr\d+|[ast]\d+|ra|sp|gp|tp)\b")
_ROWS = {row.mnemonic: row for row in CORE.instructions}
_FAMILY_OF_PSEUDO = {"li": "immediate", "la": "immediate", "mv": "immediate", "bnez": "branch",
                     "vsplat.f32": "vector move"}  # fmt: skip
_DEFAULT = {setting.name.partition(".")[2]: int(setting.default) for setting in CORE.settings}
_EXTERNAL = 21  # default number of cycles from a load of external memory to its result
_REACH = 4096  # the reach of a branch, in bytes
_FAR = 100  # added to the label at the start of a loop, gives the label at its end
# By family of scalar accesses: the most bytes of an access, which takes one beat.
_ACCESS = {"load": 4, "store": 4}


@dataclass(frozen=True)
class Instruction:
    """An instruction: a statement of the source with a comment.

    If `local`, it accesses cp's local memory.
    """

    text: str
    comment: str = ""
    local: bool = False

    @property
    def mnemonic(self) -> str:
        """The first word of the statement."""
        return self.text.split(" ", 1)[0]


@dataclass(frozen=True)
class Loop:
    """Instructions that are executed `count` times, until the pointer equals the register `end`.

    `branch` is the mnemonic of the branch from the loop's end to its start. A loop that waits for
    another core has another branch; its `count` is 1, because without a wait it is executed once.
    """

    count: int
    pointer: str  # the register that each iteration advances
    end: str
    body: tuple[Instruction | Loop, ...]
    comment: str = ""
    branch: str = "bne"

    @property
    def words(self) -> int:
        """The largest possible size of the loop's code, in words."""
        inner = sum(item.words if isinstance(item, Loop) else 2 for item in self.body)
        return inner + 2

    @property
    def is_near(self) -> bool:
        """Whether a branch can reach from the end of the loop to its start."""
        return 4 * self.words < _REACH


Items = Sequence[Instruction | Loop]


def place(symbol: str, offset: int) -> str:
    """Return the expression of the address `symbol` + `offset`."""
    return f"{symbol} + {offset}" if offset else symbol


class Kernel:
    """Code of vc that is being written, and its data.

    Three dictionaries have the data, by label: `tables` has words in cp's local memory, `constants`
    words in external memory, and `spaces` the sizes in bytes of external memory that is zero when
    the program starts.
    """

    def __init__(self) -> None:
        self.tables: dict[str, list[str]] = {}
        self.spaces: dict[str, int] = {}
        self.constants: dict[str, list[str]] = {}
        self._open: list[list[Instruction | Loop]] = [[]]

    @property
    def items(self) -> Items:
        """The instructions and loops written so far."""
        return tuple(self._open[0])

    def put(self, text: str, comment: str = "", *, local: bool = False) -> None:
        """Append the instruction `text`; the parameters are the fields of `Instruction`."""
        self._open[-1].append(Instruction(text, comment, local))

    def append(self, item: Instruction | Loop) -> None:
        """Append an instruction or a loop of another kernel."""
        self._open[-1].append(item)

    def block(self, *texts: str) -> None:
        """Append an instruction for each of `texts`, without comments."""
        for text in texts:
            self.put(text)

    def add(self, register: str, amount: int) -> None:
        """Append code that adds `amount` to a register; for a large amount it changes t5."""
        if -2048 <= amount < 2048:
            if amount:
                self.put(f"addi {register}, {register}, {amount}")
        else:
            self.block(f"li t5, {amount}", f"add {register}, {register}, t5")

    @contextmanager
    def loop(
        self, count: int, pointer: str, step: int, end: str, comment: str = ""
    ) -> Iterator[None]:
        """Make a loop of `count` passes from the code that is appended inside the `with` statement.

        That code must add `step` to the register `pointer`. Register `end` gets the pointer's last
        value. `comment` says in the source what one iteration handles.
        """
        if count > 1:
            self.block(f"li {end}, {count * step}", f"add {end}, {pointer}, {end}")
        self._open.append([])
        yield
        body = self._open.pop()
        if count == 1:
            self._open[-1] += body
        elif count > 1:
            self._open[-1].append(Loop(count, pointer, end, tuple(body), comment))

    def wait(self, address: str, value: str, limit: str, comment: str) -> None:
        """Write code that waits until the word at `address` is at most `limit`.

        `address`, `value` and `limit` are registers. The code loads the word into `value`.
        """
        body = (Instruction(f"lw {value}, 0({address})"),)
        self._open[-1].append(Loop(1, value, limit, body, comment, "bgt"))


def write_kernel(out: Listing, items: Items, depth: int) -> None:
    """Append the statements of a kernel to a source; the label of a loop is its depth."""
    for item in items:
        if isinstance(item, Instruction):
            out.put(item.text, item.comment)
        else:
            out.put("", item.comment, label=str(depth))
            write_kernel(out, item.body, depth + 1)
            if item.is_near:
                out.put(f"{item.branch} {item.pointer}, {item.end}, {depth}b")
            else:
                out.put(f"beq {item.pointer}, {item.end}, {_FAR + depth}f")
                out.put(f"j {depth}b")
                out.put("", label=str(_FAR + depth))


def _family(item: Instruction) -> str:
    return _FAMILY_OF_PSEUDO.get(item.mnemonic) or _ROWS[item.mnemonic].family


def registers_of(item: Instruction) -> list[str]:
    """Return the registers that an instruction names, in the order of its operands."""
    return _REGISTER.findall(item.text.partition(" ")[2])


def is_store(item: Instruction) -> bool:
    """Return whether an instruction writes memory."""
    return _family(item) == "store" or item.mnemonic.startswith("vst")


def destination(item: Instruction) -> str | None:
    """Return the register that an instruction writes; None if it writes no register."""
    names = registers_of(item)
    return None if not names or is_store(item) or _family(item) == "branch" else names[0]


def latency_of(item: Instruction) -> int:
    """Return the cycles from the issue of an instruction to its result, with default settings.

    Scalar instructions other than loads count as 1 cycle.
    """
    family = _family(item)
    if family == "vector division":
        return _DEFAULT["vector_div_cycles"]
    if family == "load" or (family == "vector memory" and not is_store(item)):
        return _DEFAULT["local_cycles"] if item.local else _EXTERNAL
    return _DEFAULT["vector_cycles"] if family.startswith("vector") else 1


EXIT = (Instruction("li a0, 0", "exit"), Instruction("li a7, 93"))  # then `ecall`


@dataclass
class _Scoreboard:
    """The cycle of the next issue, and for each register the first cycle in which it is ready.

    `stored` is the first cycle in which all stores have ended.
    """

    config: Mapping[str, Any]
    time: int = 0  # the cycle of the next issue
    stored: int = 0
    ready: dict[str, int] = field(default_factory=dict)

    def run(self, items: Items) -> None:
        for item in items:
            if isinstance(item, Instruction):
                self.issue(item)
            else:
                self.repeat(item)

    def repeat(self, loop: Loop) -> None:
        waits: dict[str, int] = {}
        length = 0
        for done in range(loop.count):
            start = self.time
            self.run(loop.body)
            self.branch(loop, taken=done + 1 < loop.count)
            before = (waits, length)
            length = self.time - start
            waits = {name: at - self.time for name, at in self.ready.items() if at > self.time}
            rest = loop.count - done - 2  # remaining iterations that end with a taken branch
            if (waits, length) == before and rest > 0:
                self.time += rest * length
                self.ready = {name: at + self.time for name, at in waits.items()}
                self.run(loop.body)
                self.branch(loop, taken=False)
                return

    def branch(self, loop: Loop, taken: bool) -> None:
        at = max(self.time, self.ready.get(loop.pointer, 0), self.ready.get(loop.end, 0))
        # whether the branch is taken: back in a near loop, out of a far loop after its last pass
        ends = taken == loop.is_near
        self.time = at + (self.of("branch_taken_cycles") if ends else self.of())
        if taken and not loop.is_near:
            self.time += self.of("branch_taken_cycles")

    def of(self, name: str = "") -> int:
        """Return the setting `vc.NAME`, a number of cycles of vc, in device cycles.

        If `name` is empty, return one cycle of vc in device cycles.
        """
        return int(self.config["vc.divider"]) * (int(self.config[f"vc.{name}"]) if name else 1)

    def issue(self, item: Instruction) -> None:
        mnemonic, family, names = item.mnemonic, _family(item), registers_of(item)
        at = max([self.time, *(self.ready.get(name, 0) for name in names)])
        size, lanes = _ACCESS.get(family, 0), 1
        if family == "vector memory":
            size = VECTOR_BYTES
            if "." in mnemonic:
                size = ELEMENTS[mnemonic.partition(".")[2]].bits // 8
                lanes = VECTOR_BYTES // size
        self.time = at + self.of() * (
            instructions_of_load(item.text) if mnemonic in ("li", "la") else 1
        )
        done = at + self.latency(family)
        if size and item.local:
            done = at + self.of("local_cycles")
        elif size:
            beats = -(-size // int(self.config["mem.external_width"]))
            last = at + (lanes - 1) * self.of()
            self.time = max(last + self.of(), last + beats)
            done = last + int(self.config["mem.external_latency"]) + beats
        target = destination(item)
        if target:
            self.ready[target] = max(done, self.time if mnemonic in ("li", "la") else 0)
        elif size:
            self.stored = max(self.stored, done)

    def latency(self, family: str) -> int:
        if family == "vector division":
            return self.of("vector_div_cycles")
        if family.startswith("vector"):
            return self.of("vector_cycles")
        if family == "pmac":
            return self.of("pmac_cycles")
        if family in ("multiply", "divide"):
            return self.of("mul_cycles" if family == "multiply" else "div_cycles")
        return self.of("alu_cycles")


def instructions_of_load(text: str) -> int:
    """Return the number of instructions that the `li` or `la` in `text` becomes."""
    number = text.rpartition(",")[2].strip()
    try:
        value = int(number, 0)
    except ValueError:
        return 2  # an address
    return 1 if -2048 <= value < 2048 or value & 0xFFF == 0 else 2


def kernel_cycles(items: Items, config: Mapping[str, Any]) -> int:
    """Return the device cycles from a kernel's first issue until all its results are ready."""
    board = _Scoreboard(config)
    board.run(items)
    return max([board.time, *board.ready.values()])


def program_cycles(items: Items, config: Mapping[str, Any]) -> int:
    """Return the device cycles from the start of vc until the kernel `items` and its exit end.

    `ecall`, the last instruction of the exit, issues when all instructions and stores have ended.
    """
    board = _Scoreboard(config)
    board.run((*items, *EXIT))
    cycle = board.of()
    ended = max([board.time, board.stored, *board.ready.values()])
    return -(-ended // cycle) * cycle + cycle
