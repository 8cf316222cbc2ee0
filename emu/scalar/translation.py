"""Hot code as Python functions: a block from the target of a jump back to what ends it.

A block goes on behind branches that are not taken; one that branches to its own begin
stays inside the function, up to the limit. Registers are local variables. What an
instruction does is the text of its act (`emu.scalar.inlining`); where the act would
leave, the function ends at that instruction, which then goes the plain way.

While the core's trace records an edition is used that counts: it keeps the core's tally
(`emu.tallies`), and begins another pass through the block while not more than `room` instructions
are done, so that it ends before the next border of the trace. A block that borders have cut often
gets an edition that crosses them: its function holds the block twice, as it is and with a question
before each instruction whether the border is there (`cut` is its place in the pass). There the core
is `told` what was counted, goes on to the next `border`, and all is counted anew from that place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from emu.scalar import semantics
from emu.scalar.inlining import LEAVE, inlined, named
from emu.scalar.semantics import SINK
from isa.codec import Decoded

if TYPE_CHECKING:
    from emu.breaks import Probe
    from emu.scalar.hart import Hart

HOT = 24  # jumps to an address after which its block is translated
MOST = 512  # blocks that are kept
PLAIN, COUNTING, CROSSING = range(3)  # editions of a block


class Block(NamedTuple):
    """The translated code from an address on."""

    # Of core and limit, and of room if it counts; True: `pc` is for the plain way.
    function: Callable[..., bool]
    lead: int  # device cycles that must be left before the limit, or nothing is done
    code: bytes  # what it was made of
    source: str  # the function's text, for people
    length: int  # instructions
    crosses: bool  # borders of the trace


class Round(NamedTuple):
    """A pass through a block that branches back to its begin at one place alone."""

    length: int  # instructions
    uses: int  # of compute units
    last: int  # the end of the last use, device cycles from the begin of the next pass


class Translator:
    """Writes the function of some instructions that begin at `start`."""

    def __init__(
        self, hart: Hart, start: int, instructions: Sequence[Decoded], edition: int = PLAIN
    ) -> None:
        self.hart = hart
        self.counting = edition != PLAIN
        self.crosses = edition == CROSSING
        self.cutting = False  # the text is that in which a border may come
        self.start = start
        self.instructions = instructions
        self.names: dict[str, Any] = {}
        self.lines: list[str] = []
        self.counts = dict.fromkeys(("done", *self.counters, *self.tallied), 0)
        self.place = 0  # of the instruction in the block
        self.offset = 0  # device cycles from `t` to its begin
        costs = [self.cost(found) for found in instructions]
        self.rest = [sum(costs[place:-1]) for place in range(len(costs))]
        self.begins = [0, *accumulate(costs)]
        self.last_use = 0  # of compute units, device cycles from `t`
        begins = zip(instructions, self.begins, strict=False)
        self.first_use = next((begin for found, begin in begins if hart.uses(found.row)), 0)
        self.round = self._round() if self.counting else None

    # What another core has in other ways

    @property
    def tallied(self) -> tuple[str, ...]:
        """What is counted for the tally, beside instructions."""
        return ("uses",) if self.counting else ()

    counters: tuple[str, ...] = ()  # what is counted beside instructions
    variables: tuple[str, ...] = ()  # more variables that are 0 at first

    def cost(self, found: Decoded) -> int:
        """Device cycles from the begin of an instruction to that of the next, if nothing waits."""
        return self.hart.timing.of_family[found.row.family]

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

    def tally_enter(self) -> Iterable[str]:
        """Lines at the begin of a function that counts."""
        owed = ("owed = 0",) if self.round is not None and self.crosses else ()
        return ("begun = t", f"first = t + {self.first_use}", "used = 0", *owed)

    @property
    def lasting(self) -> Iterable[str]:
        """What is counted and not told the tally."""
        return ()

    @property
    def telling(self) -> Callable[..., None]:
        """What takes into the tally what a function has counted."""
        return self.hart.told

    def tally(self) -> Iterable[str]:
        """Lines that add to the tally, at the end of the function if it has done something."""
        yield "told(begun, t, uses, first, used)"

    def crossing(self) -> Iterable[str]:
        """Lines that tell the tally what was counted up to this instruction, and forget it.

        What a pass counts as a whole when it ends is too much then: what came before this
        instruction is taken off now.
        """
        uses = self.counts.get("uses", 0)
        yield from self.ends()
        if self.round is None and uses:
            yield f"uses += {uses}"
        yield f"told(begun, t + {self.offset}, uses, first, used)"
        yield f"begun = t + {self.offset}"
        yield "first = -1"
        if self.round is None:
            yield f"uses = -{uses}"
        else:
            yield f"owed = {-(-self.place // self.round.length) * self.round.uses - uses}"

    # The text

    @property
    def address(self) -> int:
        """Of the instruction."""
        return self.start + 4 * self.place & 0xFFFF_FFFF

    def block(self, code: bytes) -> Block:
        """The function, compiled. Raises `OSError` if meanings have no source."""
        self.begin()
        short = " or done > room" if self.counting and not self.crosses else ""
        head = [f"if t + {self.rest[0]} >= limit{short}:", *_indented(self.leave())]
        length = len(self.instructions)
        if self.crosses:
            self.cutting = True
            cutting = self._pass()
            self.cutting = False
            head += ["if done > room:", f"    cut = room - done + {length}", *_indented(cutting)]
        source = self._function([*head, *self._pass()])
        self.names["core"] = self.hart
        if self.counting:
            self.names |= {"told": self.telling, "border": self.hart.border}
        exec(compile(source, f"<block {self.start:08x}>", "exec"), self.names)
        return Block(self.names["block"], self.rest[0], code, source, length, self.crosses)

    def begin(self) -> None:
        """Be at the begin of the block."""
        self.place = self.offset = self.last_use = 0
        self.counts = dict.fromkeys(self.counts, 0)

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
                self.lines += self._border()
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

    def _border(self) -> Iterable[str]:
        """Lines for a border before this instruction."""
        yield f"if cut == {self.place}:"
        yield from _indented(self.crossing())
        yield f"    cut = border(done + {self.place})"
        yield f"    done = -{self.place}"
        yield "    if cut < 0:"  # nothing is counted by now that would be told
        yield f"        pc = {self.address:#x}"
        yield from (f"        {name} += {self.counts[name]}" for name in self.lasting)
        yield "        done = 0"
        yield f"        t += {self.offset}"
        yield "        break"
        yield f"    room = cut - {len(self.instructions)}"
        yield f"    cut += {self.place}"

    def _function(self, body: list[str]) -> str:
        text = "\n".join((*body, *self.enter(), *self.finish()))
        used = sorted({int(number) for number in re.findall(r"\bx(\d+)\b", text)})
        written = sorted({int(number) for number in re.findall(r"\bx(\d+) = ", text)})
        zeros = ("done", *self.counters, *self.tallied, *self.variables)
        lines = [
            "x = core.x",
            *(f"x{number} = x[{number}]" for number in used),
            "t = core.time",
            *self.enter(),
            *(self.tally_enter() if self.counting else ()),
            f"{' = '.join(zeros)} = 0",
            "plain = False",
            "while True:",
            *_indented(body),
            *(f"x[{number}] = x{number}" for number in written),
            "core.pc = pc",
            "core.time = t",
            "core.retired += done",
            *self.finish(),
        ]
        if self.counting:
            lines += ["if done:", *_indented(self.tally())]
        lines.append("return plain")
        room = ", room" if self.counting else ""
        return "\n".join([f"def block(core, limit{room}):", *_indented(lines), ""])

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
        text = re.sub(r"\bx\[(\d+)\]", r"x\1", held.text)
        for name, value in held.names.items():
            self.names.setdefault(name, value)
        lines = [f"if {text}:", *_indented(self.leave())]
        return [f"core.device.cycle = t + {self.offset}", *lines] if held.names else lines

    def _probed(self, place: int, probes: Iterable[Probe]) -> list[str]:
        """Lines behind an instruction that end the function there if one of its probes holds."""
        address = self.address
        self.place, self.offset = place + 1, self.begins[place + 1]
        self.counts["done"] = self.place
        lines = ["asked = False"]
        for probe in probes:
            self.names |= {name: probe.names[name] for name in probe.names}
            met = [f"{named(self.names, 'met', probe.met)}({address:#x})", "asked = True"]
            text = re.sub(r"\bx\[(\d+)\]", r"x\1", probe.text)
            lines += [f"if {text}:", *_indented(met)] if text else met
        leaves = ["core.device.cycle = acted", "core.ask()", *self.exit(f"{self.address:#x}")]
        return [*lines, "if asked:", *_indented(leaves)]

    def _counted(self, cost: int = 0, again: bool = False) -> list[str]:
        """Lines where a pass ends, `cost` after the begin of this instruction; or goes `again`."""
        skipped = "uses" if self.round is not None else ""  # of all passes together, at the end
        return [
            *(() if again and skipped else self.ends()),
            *(f"{x} += {value}" for x, value in self.counts.items() if value and x != skipped),
            *((f"t += {self.offset + cost}",) if self.offset + cost else ()),
        ]

    def ends(self) -> Iterable[str]:
        """Lines for the tally where a pass ends."""
        used = self.counts.get("uses", 0)
        if self.round is None:
            return (f"used = t + {self.last_use}",) if used else ()
        last = self.last_use if used else self.round.last
        whole = f"done // {self.round.length} * {self.round.uses}"
        whole += " + owed" if self.crosses else ""
        return (f"uses = {whole} + {used}", f"used = t + {last}")

    def _round(self) -> Round | None:
        """The passes through the block, if they are all alike and use a unit."""
        if "uses" not in self.tallied:
            return None
        backs = [
            place
            for place, found in enumerate(self.instructions)
            if found.row.family in ("branch", "jump") and found.values.get("target") == -4 * place
        ]
        if len(backs) != 1:
            return None
        used = [self.hart.uses(found.row) for found in self.instructions[: backs[0]]]
        if not any(used):
            return None
        last = max(place for place, units in enumerate(used) if units)
        cost = self.begins[backs[0]] + self.hart.timing.taken
        return Round(len(used) + 1, sum(used), self.begins[last + 1] - cost)

    def use(self, found: Decoded) -> None:
        """Note for the tally the compute units that an instruction uses."""
        used = self.hart.uses(found.row)
        if used:
            if self.cutting:
                self.lines.append(f"if first < 0: first = t + {self.offset}")
            self.counts["uses"] += used
            self.last_use = self.offset + self.cost(found)

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
        self.lines += [f"if {condition}:", *_indented(self._gone(target, timing.taken))]
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


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]
