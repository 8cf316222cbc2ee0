"""The translator of scalar cores: it turns hot code into a Python function (a block).

A block continues after branches that are not taken. If a block branches to its own first
instruction, it loops inside the function, up to a given cycle (the limit). Registers are local
variables. The text of an instruction is the text of its act, the function that defines it
(`macaw.emu.scalar.fast.inlining`). Where the act would raise `Leave`, the block's function ends
before the instruction, and the interpreter executes the instruction.

While the core's trace records, the core uses blocks of another edition, which count for the trace
(`macaw.emu.scalar.fast.counting`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

from macaw.emu.breaks import Probe
from macaw.emu.pages import Pages
from macaw.emu.scalar import semantics
from macaw.emu.scalar.fast.accesses import AccessWriter, find_groups, size_of
from macaw.emu.scalar.fast.blocks import COUNTING, REPORTING, Block
from macaw.emu.scalar.fast.core import TranslatingCore
from macaw.emu.scalar.fast.counting import Counting
from macaw.emu.scalar.fast.inlining import LEAVE, Spans, indent_lines, inline, name_for
from macaw.emu.scalar.fast.loops import Steps
from macaw.emu.scalar.fast.passes import PassTimes, Walk
from macaw.emu.scalar.runs import arguments
from macaw.emu.scalar.semantics import MASK
from macaw.isa.codec import Decoded
from macaw.isa.memory_map import LOCAL

# The line that wraps a sum of register variables.
_WRAP = re.compile(rf"if (x\d+) > {MASK}: \1 &= {MASK}")


class Translator(Counting):
    """Writes the Python function of a block that begins at the address `start`."""

    def __init__(
        self,
        core: TranslatingCore,
        start: int,
        instructions: Sequence[Decoded],
        edition: int,
    ) -> None:
        super().__init__(core, start, instructions, edition)
        self.names: dict[str, Any] = {}
        self.sizes = [self.size_of(found) for found in instructions]
        pages, base = self.memory()
        self.written = [self.writes(found) for found in instructions]
        groups = find_groups(instructions, self.sizes, self.written)
        self.accesses = AccessWriter(pages, base, groups, self.names)
        self.spans = Spans()  # of the registers before the present instruction
        self.per_pass: dict[str, int] = {}  # what each of `passes` passes adds to the counts
        # The device cycles of each pass, if all passes take the same time; else 0.
        self.steady = 0
        if self.back is not None and not self.counting:
            self.steady = self.begins[self.back] + core.timing.taken

    @property
    def loop(self) -> Sequence[Decoded]:
        """The instructions of the loop: from the block's start to the branch or jump back to it.

        Empty unless the block has exactly one such branch or jump.
        """
        return self.instructions[: self.back + 1] if self.back is not None else ()

    # Methods that other cores extend

    def enter(self) -> Iterable[str]:
        """Return further lines at the start of the function; none in this class."""
        return ()

    def size_of(self, found: Decoded) -> int | None:
        """Return the size in bytes of an access to `memory`; None for another instruction."""
        return size_of(found)

    def writes(self, found: Decoded) -> tuple[int, ...]:
        """Return the general registers that an instruction writes."""
        return (found.values["rd"],) if "rd" in found.row.writes.split() else ()

    def memory(self) -> tuple[Pages, int]:
        """Return the memory that blocks access, and its first address."""
        return self.core.device.memory.local, LOCAL

    def wait(self, found: Decoded) -> Iterable[str]:
        """Return the lines before an instruction. They test its access to memory if it has one.

        A core with a scoreboard adds lines for the waits of the instruction.
        """
        return self.accesses.test(self.place, self.spans, self.leave)

    def after(self, found: Decoded) -> Iterable[str]:
        """Return the lines after an instruction. They update the variables that access tests use.

        A core with a scoreboard adds lines for the results of the instruction.
        """
        return self.accesses.after(found)

    def count_branch(self, cost: int) -> None:
        """Count a branch or jump that takes `cost` cycles. This class counts nothing."""
        return

    def call(self, found: Decoded) -> Iterable[str] | None:
        """Return the lines of an instruction whose act is not written as text; None for all others.

        In this class these are the loads and stores.
        """
        return None if self.sizes[self.place] is None else [self.access(found)]

    def access(self, found: Decoded) -> str:
        """Return the line of the instruction `found`, a load or store of a general register."""
        move = self.accesses.load if found.row.family == "load" else self.accesses.store
        return move(found, self.spans, self.place)

    def walks(self) -> Sequence[Walk] | None:
        """Return the accesses to external memory if each pass moves their addresses by constants.

        Return None if a pass moves the address of an access in another way. This class returns (),
        because its blocks access only local memory.
        """
        return ()

    def skip(self) -> Iterable[str]:
        """Return lines before the first pass that do many passes at once; none in this class."""
        return ()

    def finish(self) -> Iterable[str]:
        """Return further lines at the end of the function; none in this class."""
        return ()

    # The text

    def block(self, code: bytes) -> Block:
        """Return the compiled block of instructions whose words are `code`.

        Raises `OSError` if Python cannot read the source of the functions of these instructions.
        """
        if self.steady:
            self.accesses.look_ahead(Steps(self.loop, self.written), self.steady)
        self.begin()
        if self.counting:
            head = self.head(self.leave(), self._cutting() if self.crosses else None)
        else:
            head = self.accesses.head(self.leave)
        source = self._function(head, self._pass())
        self.names["core"] = self.core
        if self.counting:
            self.names |= {"add_block": self.adder, "next_border": self.core.next_border}
        times = self._times() if self.reporting else None
        if times is not None:
            self.names |= {"report": self.core.reports.append, "times": times}
        length = len(self.instructions)
        exec(_compile(source, f"<block {self.start:08x}>"), self.names)
        return Block(self.names["block"], self.rest[0], code, source, length, self.crosses, times)

    def _times(self) -> PassTimes:
        """Return the times of a block that reports its passes."""
        length = 0 if self.back is None else self.back + 1
        timed = [self.timed(place, found) for place, found in enumerate(self.instructions)]
        return PassTimes(timed, length, self.steady, self.walks())

    def begin(self) -> None:
        """Set the present instruction to the first of the block, and all counts to 0."""
        self.place = self.offset = self.last_use = 0
        self.spans.clear()
        self.counts = dict.fromkeys(self.counts, 0)

    def _cutting(self) -> list[str]:
        """Return the lines of a pass that may contain a border of the trace.

        A border is an instruction at which the trace begins or ends to record. The lines of
        each instruction begin with a test whether the instruction is a border.
        """
        self.cutting = True
        lines = self._pass()
        self.cutting = False
        return [f"cut = room - done + {len(self.instructions)}", *lines]

    def _pass(self) -> list[str]:
        """Return the lines of one pass through the block."""
        self.begin()
        body: list[str] = []
        ended = False
        for place, found in enumerate(self.instructions):
            self.place, self.offset = place, self.begins[place]
            self.counts["done"] = place
            self.lines = [f"# {self.address:08x} {found.row.mnemonic}"]
            if self.cutting:
                self.lines += self.border_test()
            self.lines += [*self._break_test(), *self.wait(found)]
            probes = self.core.probe_set.of(found)
            if probes:
                self.lines.append(f"acted = t + {self.offset}")
            ended = self._instruction(found)
            if probes:
                self.lines += self._probe_tests(place, probes)
            body += self.lines
        if not ended:
            self.place, self.offset = len(self.instructions), self.begins[-1]
            self.counts["done"] = self.place
            body += self.exit(f"{self.address:#x}")
        return _wrap_once(body)

    def _function(self, head: list[str], body: list[str]) -> str:
        text = "\n".join((*head, *body, *self.enter(), *self.finish()))
        used = sorted({int(number) for number in re.findall(r"\bx(\d+)\b", text)})
        written = sorted({int(number) for number in re.findall(r"\bx(\d+) = ", text)})
        zeros = ("done", *self.counters, *self.tallied, *self.accesses.variables)
        last = f"bound = limit - {self.rest[0]}"  # a pass must begin before this cycle
        lines = [
            "x = core.x",
            *(f"x{number} = x[{number}]" for number in used),
            "t = core.time",
            *self.enter(),
            *(("bound = t", *self.tally_enter()) if self.counting else ("begun = t", last)),
            f"{' = '.join(zeros)} = 0",
            "plain = False",
            *self.skip(),
            "while True:",
            *indent_lines(head),
            *indent_lines(body),
            *(f"{name} += {value} * passes" for name, value in self.per_pass.items()),
            *(f"x[{number}] = x{number}" for number in written),
            "core.pc = pc",
            "core.time = t",
            "core.retired += done",
            *self.finish(),
        ]
        if self.counting:
            lines += ["if done:", *indent_lines(self.tally())]
        elif self.reporting:
            passes = "passes" if self.steady else "0"
            lines.append(f"if done: report((times, begun, {passes}, place, taken))")
        lines.append("return plain")
        views = [name for name, value in self.names.items() if isinstance(value, memoryview)]
        # as defaults of parameters the memories are local variables, which are faster than global
        parameters = ["core", "limit", *(("room",) if self.counting else ())]
        parameters += [f"{name}={name}" for name in sorted(views)]
        return "\n".join([f"def block({', '.join(parameters)}):", *indent_lines(lines), ""])

    def exit(self, following: str, cost: int = 0) -> list[str]:
        """Return the lines that end the function `cost` cycles after the start of an instruction.

        This is the present instruction, for which lines are being written. `following` is an
        expression, as text, for the address of the next instruction.
        """
        last = [f"place, taken = {self.counts['done']}, {cost > 0}"] if self.reporting else []
        return [f"pc = {following}", *last, *self._count_pass(cost, again=False), "break"]

    def leave(self) -> list[str]:
        """Return the lines that end the function before the present instruction.

        The interpreter then executes this instruction.
        """
        return ["plain = True", *self.exit(f"{self.address:#x}")]

    def _break_test(self) -> list[str]:
        """Return the lines that end the function before the present instruction if it has a break.

        If the break has a test, the lines end the function only if the test is true.
        """
        break_ = self.core.breaks.get(self.address)
        if break_ is None:
            return []
        text = _with_variables(break_.text)
        for name, value in break_.names.items():
            self.names.setdefault(name, value)
        lines = [f"if {text}:", *indent_lines(self.leave())]
        return [f"core.device.cycle = t + {self.offset}", *lines] if break_.names else lines

    def _probe_tests(self, place: int, probes: Iterable[Probe]) -> list[str]:
        """Return the lines that end the function after instruction `place` if a probe's test holds.

        `probes` are the probes that must be tested after it.
        """
        address = self.address
        self.place, self.offset = place + 1, self.begins[place + 1]
        self.counts["done"] = self.place
        lines = ["asked = False"]
        for probe in probes:
            self.names |= probe.names
            met = [f"{name_for(self.names, 'met', probe.met)}({address:#x})", "asked = True"]
            text = _with_variables(probe.text)
            lines += [f"if {text}:", *indent_lines(met)] if text else met
        leaves = ["core.device.cycle = acted", "core.ask()", *self.exit(f"{self.address:#x}")]
        return [*lines, "if asked:", *indent_lines(leaves)]

    def _count_pass(self, cost: int, again: bool) -> list[str]:
        """Return the lines at the end of a pass that update the counts and the time `t`.

        The pass ends `cost` cycles after the present instruction (for which lines are being
        written) starts. `again` says that another pass follows.
        """
        # the counts of all passes are added once, at the end
        skipped = "uses" if self.round is not None else ""
        counts = {x: value for x, value in self.counts.items() if value and x != skipped}
        if self.steady and again:
            self.per_pass = counts
            return [f"t += {self.steady}"]
        return [
            *((f"passes = (t - begun) // {self.steady}",) if self.steady else ()),
            *(() if again and skipped else self.ends()),
            *(f"{x} += {value}" for x, value in counts.items()),
            *((f"t += {self.offset + cost}",) if self.offset + cost else ()),
        ]

    def _instruction(self, found: Decoded) -> bool:
        """Write the lines of an instruction. Return whether it ends the block."""
        call = self.call(found)
        if call is not None:
            self.lines += call
            self.lines += self.after(found)
            return False
        if found.row.family == "branch":
            self._branch(found)
            return False
        if found.row.family == "jump":
            self._jump(found)
            return True
        self.lines += self._text(found)[0]
        self.lines += self.after(found)
        if self.counting:
            self.use(found)
        return False

    def _text(self, found: Decoded, **more: object) -> tuple[list[str], str]:
        make = semantics.meaning(semantics, found.row.mnemonic)
        if "pc" in found.row.reads.split() and not more:
            more |= {"pc": self.address}
        act = make(self.core.x, **(arguments(found) | more))
        text = inline(semantics, make, act, self.names, self.spans)
        lines: list[str] = []
        for line in text.lines:
            bare = line.strip()
            indent = line[: len(line) - len(bare)]
            lines += [indent + x for x in (self.leave() if bare == LEAVE else [bare])]
        return lines, text.result

    def _target(self, found: Decoded) -> int:
        return self.address + found.values["target"] & 0xFFFF_FFFF

    def condition(self, found: Decoded) -> str:
        """Return the expression that says whether the branch `found` is taken."""
        exits = {"taken": (0, 0), "fallen": (0, 0)}
        make = semantics.meaning(semantics, found.row.mnemonic)
        registers = {name: found.values[name] for name in ("rs1", "rs2")}
        act = make(self.core.x, **registers, **exits)
        return inline(semantics, make, act, self.names, self.spans).result

    def _branch(self, found: Decoded) -> None:
        timing, target = self.core.timing, self._target(found)
        condition = self.condition(found)
        self.counts["done"] += 1
        self.lines += [f"if {condition}:", *indent_lines(self._take_branch(target, timing.taken))]
        self.count_branch(timing.alu)

    def _take_branch(self, target: int, cost: int) -> list[str]:
        """Return the lines for a branch to `target` that is taken and takes `cost` cycles."""
        otherwise = dict(self.counts)
        self.count_branch(cost)
        lines = self._end_branch(target, cost)
        self.counts = otherwise
        return lines

    def _end_branch(self, target: int, cost: int) -> list[str]:
        if target == self.start:
            lines = self._count_pass(cost, again=True)
            if self.counting and not self.counts.get("uses", 1):
                lines.append(f"if not uses: first = t + {self.first_use}")
            elif self.cutting and self.counts.get("uses"):
                lines.append(f"if first < 0: first = t + {self.first_use}")
            return [*lines, "continue"]
        return self.exit(f"{target:#x}", cost)

    def _jump(self, found: Decoded) -> None:
        cost = self.core.timing.taken
        following = self.address + 4 & 0xFFFF_FFFF
        more: dict[str, object] = {"link": following, "leave": 0, "cost": cost}
        target = self._target(found) if "target" in found.values else None
        if target is not None:
            more["target"] = target
        lines, result = self._text(found, **more)
        self.counts["done"] += 1
        self.lines += lines
        self.lines += self.after(found)
        if target is None:
            self.count_branch(cost)
            self.lines += self.exit(result, cost)
        else:
            self.lines += self._take_branch(target, cost)


def translate(
    writer: type[Translator],
    core: TranslatingCore,
    address: int,
    instructions: Sequence[Decoded],
    edition: int,
    code: bytes,
) -> Block:
    """Return the block of instructions from `address` on, whose words are `code`.

    `writer` is the class that writes the text, `edition` the edition of the block. A block whose
    passes take different times cannot be of the edition REPORTING, so it becomes a COUNTING block.
    Raises `OSError` if Python cannot read the source of the functions of these instructions.
    """
    made = writer(core, address, instructions, edition)
    if edition == REPORTING and not made.is_timed:
        made = writer(core, address, instructions, COUNTING)
    return made.block(code)


@lru_cache(maxsize=1024)  # devices that execute the same program have blocks with equal texts
def _compile(source: str, name: str) -> CodeType:
    """Return the code of the text `source`. Tracebacks name it `name`."""
    return compile(source, name, "exec")


def _wrap_once(lines: Sequence[str]) -> list[str]:
    """Return the lines without each wrap to 32 bits that a later wrap makes superfluous.

    This is so if the next instruction only adds another register to the sum: for a sum of three
    registers, one wrap at the end gives the same result as two wraps.
    """
    kept = []
    for place, line in enumerate(lines):
        found = line.startswith("if x") and _WRAP.fullmatch(line)
        title, following, wrap = (*lines[place + 1 : place + 4], "", "", "")[:3]
        is_sum = found and following.startswith(f"{found[1]} = {found[1]} + x")
        if not is_sum or wrap != line or not title.startswith("# "):
            kept.append(line)
    return kept


def _with_variables(text: str) -> str:
    """Return the expression `text` with variables (`x10`) in place of registers (`x[10]`)."""
    return re.sub(r"\bx\[(\d+)\]", r"x\1", text)
