"""Hot code as Python functions: a block from the target of a jump back to what ends it.

A block goes on behind branches that are not taken; one that branches to its own begin
stays inside the function, up to the limit. Registers are local variables. What an
instruction does is the text of its act (`macaw.emu.scalar.inlining`); where the act would
leave, the function ends at that instruction, which then goes the plain way.

While the core's trace records another edition is used, which counts (`macaw.emu.scalar.counting`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from macaw.emu.scalar import semantics
from macaw.emu.scalar.counting import PLAIN, Counting, indented
from macaw.emu.scalar.inlining import LEAVE, inlined, named
from macaw.emu.scalar.semantics import SINK
from macaw.isa.codec import Decoded

if TYPE_CHECKING:
    from macaw.emu.breaks import Probe
    from macaw.emu.scalar.hart import Hart

HOT = 24  # jumps to an address after which its block is translated
MOST = 512  # blocks that are kept


class Block(NamedTuple):
    """The translated code from an address on."""

    # Of core and limit, and of room if it counts; True: `pc` is for the plain way.
    function: Callable[..., bool]
    lead: int  # device cycles that must be left before the limit, or nothing is done
    code: bytes  # what it was made of
    source: str  # the function's text, for people
    length: int  # instructions
    crosses: bool  # borders of the trace


class Translator(Counting):
    """Writes the function of some instructions that begin at `start`."""

    def __init__(
        self, hart: Hart, start: int, instructions: Sequence[Decoded], edition: int = PLAIN
    ) -> None:
        super().__init__(hart, start, instructions, edition)
        self.names: dict[str, Any] = {}

    # What another core has in other ways

    def enter(self) -> Iterable[str]:
        """Lines at the begin of the function."""
        return ()

    def wait(self, found: Decoded) -> Iterable[str]:
        """Lines before an instruction."""
        return ()

    def done(self, found: Decoded) -> Iterable[str]:
        """Lines after an instruction."""
        return ()

    def branched(self, cost: int) -> Iterable[str]:
        """Lines for a branch or jump that has cost so much."""
        return ()

    def other(self, found: Decoded) -> Iterable[str] | None:
        """The lines of an instruction whose act is not taken as text."""
        return None

    def finish(self) -> Iterable[str]:
        """Lines at the end of the function."""
        return ()

    # The text

    def block(self, code: bytes) -> Block:
        """The function, compiled. Raises `OSError` if meanings have no source."""
        self.begin()
        head = [f"if t + {self.rest[0]} >= limit:", *indented(self.leave())]
        if self.counting:
            head = self.head(self.leave(), self._cutting() if self.crosses else None)
        source = self._function(head, self._pass())
        self.names["core"] = self.hart
        if self.counting:
            self.names |= {"told": self.telling, "border": self.hart.border}
        length = len(self.instructions)
        exec(compile(source, f"<block {self.start:08x}>", "exec"), self.names)
        return Block(self.names["block"], self.rest[0], code, source, length, self.crosses)

    def begin(self) -> None:
        """Be at the begin of the block."""
        self.place = self.offset = self.last_use = 0
        self.counts = dict.fromkeys(self.counts, 0)

    def _cutting(self) -> list[str]:
        """The lines of a pass in which a border may come."""
        self.cutting = True
        lines = self._pass()
        self.cutting = False
        return [f"cut = room - done + {len(self.instructions)}", *lines]

    def _pass(self) -> list[str]:
        """The lines of a pass through the block."""
        self.begin()
        body: list[str] = []
        ended = False
        for place, found in enumerate(self.instructions):
            self.place, self.offset = place, self.begins[place]
            self.counts["done"] = place
            self.lines = [f"# {self.address:08x} {found.row.mnemonic}"]
            if self.cutting:
                self.lines += self.border()
            self.lines += [*self._broken(), *self.wait(found)]
            probes = self.hart.probing.of(found)
            if probes:
                self.lines.append(f"acted = t + {self.offset}")
            ended = self._instruction(found)
            if probes:
                self.lines += self._probed(place, probes)
            body += self.lines
        if not ended:
            self.place, self.offset = len(self.instructions), self.begins[-1]
            self.counts["done"] = self.place
            body += self.exit(f"{self.address:#x}")
        return body

    def _function(self, head: list[str], body: list[str]) -> str:
        text = "\n".join((*body, *self.enter(), *self.finish()))
        used = sorted({int(number) for number in re.findall(r"\bx(\d+)\b", text)})
        written = sorted({int(number) for number in re.findall(r"\bx(\d+) = ", text)})
        zeros = ("done", *self.counters, *self.tallied, *self.variables)
        lines = [
            "x = core.x",
            *(f"x{number} = x[{number}]" for number in used),
            "t = core.time",
            *self.enter(),
            *(("bound = t", *self.tally_enter()) if self.counting else ()),
            f"{' = '.join(zeros)} = 0",
            "plain = False",
            "while True:",
            *indented(head),
            *indented(body),
            *(f"x[{number}] = x{number}" for number in written),
            "core.pc = pc",
            "core.time = t",
            "core.retired += done",
            *self.finish(),
        ]
        if self.counting:
            lines += ["if done:", *indented(self.tally())]
        lines.append("return plain")
        room = ", room" if self.counting else ""
        return "\n".join([f"def block(core, limit{room}):", *indented(lines), ""])

    def exit(self, following: str, cost: int = 0) -> list[str]:
        """Lines that end the function; `following` is the next address, as text."""
        return [f"pc = {following}", *self._counted(cost), "break"]

    def leave(self) -> list[str]:
        """Lines that end the function before this instruction."""
        return ["plain = True", *self.exit(f"{self.address:#x}")]

    def _broken(self) -> list[str]:
        """Lines that leave before this instruction if its break holds."""
        held = self.hart.breaks.get(self.address)
        if held is None:
            return []
        text = _with_variables(held.text)
        for name, value in held.names.items():
            self.names.setdefault(name, value)
        lines = [f"if {text}:", *indented(self.leave())]
        return [f"core.device.cycle = t + {self.offset}", *lines] if held.names else lines

    def _probed(self, place: int, probes: Iterable[Probe]) -> list[str]:
        """Lines behind an instruction that end the function there if one of its probes holds."""
        address = self.address
        self.place, self.offset = place + 1, self.begins[place + 1]
        self.counts["done"] = self.place
        lines = ["asked = False"]
        for probe in probes:
            self.names |= probe.names
            met = [f"{named(self.names, 'met', probe.met)}({address:#x})", "asked = True"]
            text = _with_variables(probe.text)
            lines += [f"if {text}:", *indented(met)] if text else met
        leaves = ["core.device.cycle = acted", "core.ask()", *self.exit(f"{self.address:#x}")]
        return [*lines, "if asked:", *indented(leaves)]

    def _counted(self, cost: int = 0, again: bool = False) -> list[str]:
        """Lines where a pass ends, `cost` after the begin of this instruction; or goes `again`."""
        skipped = "uses" if self.round is not None else ""  # of all passes together, at the end
        return [
            *(() if again and skipped else self.ends()),
            *(f"{x} += {value}" for x, value in self.counts.items() if value and x != skipped),
            *((f"t += {self.offset + cost}",) if self.offset + cost else ()),
        ]

    def _instruction(self, found: Decoded) -> bool:
        """Write an instruction; whether nothing follows it."""
        other = self.other(found)
        if other is not None:
            self.lines += other
            self.lines += self.done(found)
            return False
        if found.row.family == "branch":
            self._branch(found)
            return False
        if found.row.family == "jump":
            self._jump(found)
            return True
        self.lines += self._text(found)[0]
        self.lines += self.done(found)
        if self.counting:
            self.use(found)
        return False

    def _text(self, found: Decoded, **more: object) -> tuple[list[str], str]:
        make = semantics.meaning(semantics, found.row.mnemonic)
        values = dict(found.values)
        if values.get("rd") == 0:
            values["rd"] = SINK
        if found.row.family in ("load", "store"):
            more |= {"local": self.hart.device.memory.local, "place": self.place}
        elif "pc" in found.row.reads.split() and not more:
            more |= {"pc": self.address}
        text = inlined(semantics, make, make(self.hart.x, **(values | more)), self.names)
        lines: list[str] = []
        for line in text.lines:
            bare = line.strip()
            indent = line[: len(line) - len(bare)]
            lines += [indent + x for x in (self.leave() if bare == LEAVE else [bare])]
        return lines, text.result

    def _target(self, found: Decoded) -> int:
        return self.address + found.values["target"] & 0xFFFF_FFFF

    def _branch(self, found: Decoded) -> None:
        timing, target = self.hart.timing, self._target(found)
        exits = {"taken": (target, 0), "fallen": (0, 0)}
        make = semantics.meaning(semantics, found.row.mnemonic)
        registers = {name: found.values[name] for name in ("rs1", "rs2")}
        act = make(self.hart.x, **registers, **exits)
        condition = inlined(semantics, make, act, self.names).result
        self.counts["done"] += 1
        self.lines += [f"if {condition}:", *indented(self._gone(target, timing.taken))]
        self.lines += self.branched(timing.alu)

    def _gone(self, target: int, cost: int) -> list[str]:
        """Lines for a branch that is taken."""
        lines = [*self.branched(cost)]
        if target == self.start:
            lines += self._counted(cost, again=True)
            if self.counting and not self.counts.get("uses", 1):
                lines.append(f"if not uses: first = t + {self.first_use}")
            elif self.cutting and self.counts.get("uses"):
                lines.append(f"if first < 0: first = t + {self.first_use}")
            return [*lines, "continue"]
        return [*lines, *self.exit(f"{target:#x}", cost)]

    def _jump(self, found: Decoded) -> None:
        cost = self.hart.timing.taken
        following = self.address + 4 & 0xFFFF_FFFF
        more: dict[str, object] = {"link": following, "leave": 0, "cost": cost}
        target = self._target(found) if "target" in found.values else None
        if target is not None:
            more["target"] = target
        lines, result = self._text(found, **more)
        self.counts["done"] += 1
        self.lines += lines
        self.lines += self.done(found)
        if target is None:
            self.lines += [*self.branched(cost), *self.exit(result, cost)]
        else:
            self.lines += self._gone(target, cost)


def _with_variables(text: str) -> str:
    """An expression on registers (`x[10]`) as one on the variables that hold them (`x10`)."""
    return re.sub(r"\bx\[(\d+)\]", r"x\1", text)
