"""What the text of a block has more while the core's trace records: it counts, and crosses borders.

It keeps the core's tally (`macaw.emu.tallies`), and begins another pass through the block while not
more than `room` instructions are done, so that it ends before the next border of the trace. A block
that borders have cut often gets an edition that crosses them: its function holds the block
twice, as it is and with a question before each instruction whether the border is there (`cut` is
its place in the pass). There the core is `told` what was counted, goes on to the next `border`, and
all is counted anew from that place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from macaw.isa.codec import Decoded

if TYPE_CHECKING:
    from macaw.emu.scalar.hart import Hart

PLAIN, COUNTING, CROSSING = range(3)  # editions of a block


class Round(NamedTuple):
    """A pass through a block that branches back to its begin at one place alone."""

    length: int  # instructions
    uses: int  # of compute units
    last: int  # the end of the last use, device cycles from the begin of the next pass


class Counting:
    """Some instructions that begin at `start`, and what a text of them counts.

    The text itself is by `macaw.emu.scalar.translation.Translator`.
    """

    counters: tuple[str, ...] = ()  # what is counted beside instructions
    variables: tuple[str, ...] = ()  # more variables that are 0 at first

    def __init__(
        self, hart: Hart, start: int, instructions: Sequence[Decoded], edition: int
    ) -> None:
        self.hart = hart
        self.start = start
        self.instructions = instructions
        self.counting = edition != PLAIN
        self.crosses = edition == CROSSING
        self.cutting = False  # the text is that in which a border may come
        self.lines: list[str] = []  # of the instruction
        self.counts = dict.fromkeys(("done", *self.counters, *self.tallied), 0)
        self.place = 0  # of the instruction in the block
        self.offset = 0  # device cycles from `t` to its begin
        costs = [self.cost(found) for found in instructions]
        self.rest = [sum(costs[place:-1]) for place in range(len(costs))]
        self.begins = [0, *accumulate(costs)]
        self.last_use = 0  # of compute units, device cycles from `t`
        begins = zip(instructions, self.begins, strict=False)
        self.first_use = next((begin for found, begin in begins if hart.uses(found.row)), 0)
        self.back = self._back()
        self.round = self._round() if self.counting else None

    @property
    def address(self) -> int:
        """Of the instruction."""
        return self.start + 4 * self.place & 0xFFFF_FFFF

    def cost(self, found: Decoded) -> int:
        """Device cycles from the begin of an instruction to that of the next, if nothing waits."""
        return self.hart.timing.of_family[found.row.family]

    @property
    def tallied(self) -> tuple[str, ...]:
        """What is counted for the tally, beside instructions."""
        return ("uses",) if self.counting else ()

    def tally_enter(self) -> Iterable[str]:
        """Lines at the begin of a function that counts."""
        owed = ("owed = 0",) if self.round is not None and self.crosses else ()
        return ("begun = t", f"first = t + {self.first_use}", "used = 0", *owed)

    def head(self, leave: list[str], cutting: list[str] | None) -> list[str]:
        """Lines before each pass: whether it may begin, or a border comes in it.

        If so, a function that crosses none leaves as it does at the limit. If there is one way back
        alone, limit and border can be no nearer than a `bound`, before which nothing is asked.
        """
        lines = [f"if t + {self.rest[0]} >= limit:", *indented(leave)]
        lines += ["if done > room:", *indented(leave if cutting is None else cutting)]
        if self.back is None:
            return lines
        cost = self.begins[self.back] + self.hart.timing.taken  # and what the pass waits
        passes = f"((room - done) // {self.back + 1} + 1)"
        lines.append(f"bound = min(limit - {self.rest[0]}, t + {cost} * {passes})")
        return ["if t >= bound:", *indented(lines)]

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

    def border(self) -> Iterable[str]:
        """Lines for a border before this instruction."""
        yield f"if cut == {self.place}:"
        yield from indented(self.crossing())
        yield f"    cut = border(done + {self.place})"
        yield f"    done = -{self.place}"
        yield "    if cut < 0:"  # nothing is counted by now that would be told
        yield f"        pc = {self.address:#x}"
        yield from (f"        {name} += {self.counts[name]}" for name in self.lasting)
        yield "        done = 0"
        yield f"        t += {self.offset}"
        yield "        break"
        yield f"    room = cut - {len(self.instructions)}"
        yield "    bound = t"
        yield f"    cut += {self.place}"

    def ends(self) -> Iterable[str]:
        """Lines for the tally where a pass ends."""
        used = self.counts.get("uses", 0)
        if self.round is None:
            return (f"used = t + {self.last_use}",) if used else ()
        last = self.last_use if used else self.round.last
        whole = f"done // {self.round.length} * {self.round.uses}"
        whole += " + owed" if self.crosses else ""
        return (f"uses = {whole} + {used}", f"used = t + {last}")

    def _back(self) -> int | None:
        """The place of the only instruction that goes back to the block's begin."""
        backs = [
            place
            for place, found in enumerate(self.instructions)
            if found.row.family in ("branch", "jump") and found.values.get("target") == -4 * place
        ]
        return backs[0] if len(backs) == 1 else None

    def _round(self) -> Round | None:
        """The passes through the block, if they are all alike and use a unit."""
        if "uses" not in self.tallied:
            return None
        if self.back is None:
            return None
        used = [self.hart.uses(found.row) for found in self.instructions[: self.back]]
        if not any(used):
            return None
        last = max(place for place, units in enumerate(used) if units)
        cost = self.begins[self.back] + self.hart.timing.taken
        return Round(len(used) + 1, sum(used), self.begins[last + 1] - cost)

    def use(self, found: Decoded) -> None:
        """Note for the tally the compute units that an instruction uses."""
        used = self.hart.uses(found.row)
        if used:
            if self.cutting:
                self.lines.append(f"if first < 0: first = t + {self.offset}")
            self.counts["uses"] += used
            self.last_use = self.offset + self.cost(found)


def indented(lines: Iterable[str]) -> list[str]:
    """The lines of a suite."""
    return [f"    {line}" for line in lines]
