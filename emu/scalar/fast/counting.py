"""Writes the lines of a block that count its instructions and uses for the trace.

A block may loop; a pass is one execution of its code. A border is an instruction at which the trace
begins or ends to record. The code for a block exists in editions, which count in different ways:

- A reporting block has none of these lines. All of its passes take the same time, so it reports
  only their number, at the end (`macaw.emu.scalar.fast.passes`). Borders may be among the passes.
- A counting block adds to the core's tally (`macaw.emu.tallies`). It begins another pass only if
  the pass ends before the next border, which is `room` instructions away.
- A crossing block counts, too, but continues across borders. The core translates a block to this
  edition if borders have often been inside the block. The function contains the code twice: once
  as in a counting block, and once with a test for the border before each instruction (`cut` is the
  index of the border in the pass). At a border the function gives its counts to the core
  (`add_block`), gets the distance to the next border (`next_border`), and starts to count again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from macaw.emu.scalar.fast.blocks import COUNTING, CROSSING, REPORTING
from macaw.emu.scalar.fast.core import TranslatingCore
from macaw.emu.scalar.fast.inlining import indent_lines
from macaw.emu.scalar.fast.passes import Timed
from macaw.emu.tallies import ARRAY, UNIT, Use
from macaw.isa.codec import Decoded
from macaw.isa.typed_records import NamedTuple


class Round(NamedTuple):
    """One pass through a block in which only one branch or jump goes back to the start.

    It has `length` instructions, which use compute units `uses` times. `last` is the end of the
    last use, in device cycles relative to the start of the next pass.
    """

    length: int
    uses: int
    last: int


class Counting:
    """Writes the lines that count instructions and uses, for the block that begins at `start`.

    `macaw.emu.scalar.fast.translation.Translator` writes the other lines.
    """

    counters: tuple[str, ...] = ()  # names of further counts, besides the number of instructions

    def __init__(
        self, core: TranslatingCore, start: int, instructions: Sequence[Decoded], edition: int
    ) -> None:
        self.core = core
        self.start = start
        self.instructions = instructions
        self.reporting = edition == REPORTING
        self.counting = edition in (COUNTING, CROSSING)
        self.crosses = edition == CROSSING
        self.cutting = False  # whether the present lines are those with tests for a border
        self.lines: list[str] = []  # lines of the present instruction
        self.counts = dict.fromkeys(("done", *self.counters, *self.tallied), 0)
        self.place = 0  # index in the block of the present instruction
        self.offset = 0  # start of the present instruction, in device cycles from `t`
        costs = [self.cost(found) for found in instructions]
        self.rest = [sum(costs[place:-1]) for place in range(len(costs))]
        self.begins = [0, *accumulate(costs)]
        self.last_use = 0  # end of the last use of compute units, in device cycles from `t`
        begins = zip(instructions, self.begins, strict=False)
        self.first_use = next((begin for found, begin in begins if core.uses(found.row)), 0)
        backs = [
            place
            for place, found in enumerate(instructions)
            if found.row.family in ("branch", "jump") and found.values.get("target") == -4 * place
        ]
        # The index of the only branch to the block's first instruction; else None.
        self.back = backs[0] if len(backs) == 1 else None
        self.is_timed = len(backs) <= 1  # whether each instruction of a pass has a fixed time
        self.round = self._round() if self.counting else None

    @property
    def address(self) -> int:
        """The address of the present instruction."""
        return self.start + 4 * self.place & 0xFFFF_FFFF

    def cost(self, found: Decoded) -> int:
        """Return the device cycles from an instruction to the next one, without any wait."""
        return self.core.timing.of_family[found.row.family]

    def timed(self, place: int, found: Decoded) -> Timed:
        """Return the begin, the end and the uses of the instruction with index `place` in a pass.

        Call it only if each instruction of a pass has a fixed time (`is_timed`).
        """
        begin = self.begins[place]
        until = begin + self.cost(found)
        units = self.core.uses(found.row)
        uses = (Use(UNIT, begin, until, units), Use(ARRAY, begin, until, 1)) if units else ()
        return Timed(begin, until, begin + self.core.timing.taken, uses)

    @property
    def tallied(self) -> tuple[str, ...]:
        """The names of the counts for the core's tally, besides the number of instructions."""
        return ("uses",) if self.counting else ()

    def tally_enter(self) -> Iterable[str]:
        """Return the lines at the start of a counting function that initialise its counts."""
        owed = ("owed = 0",) if self.round is not None and self.crosses else ()
        return ("begun = t", f"first = t + {self.first_use}", "used = 0", *owed)

    def head(self, leave: list[str], cutting: list[str] | None) -> list[str]:
        """Return the lines of the generated function before each pass through the block.

        They test whether the limit of cycles or a border comes in this pass. A border is an
        instruction at which the trace begins or ends to record. `leave` has the lines that end the
        generated function at the limit. `cutting` has the lines for a pass with a border; if it is
        None, the generated function ends before such a pass, too. If only one branch goes back to
        the block's start, the lines first compute a time `bound`, before which neither the
        limit nor a border can come; passes before this time make one test instead of two.
        """
        lines = [f"if t + {self.rest[0]} >= limit:", *indent_lines(leave)]
        lines += ["if done > room:", *indent_lines(leave if cutting is None else cutting)]
        if self.back is None:
            return lines
        cost = self.begins[self.back] + self.core.timing.taken  # plus the waits in this pass
        passes = f"((room - done) // {self.back + 1} + 1)"
        lines.append(f"bound = min(limit - {self.rest[0]}, t + {cost} * {passes})")
        return ["if t >= bound:", *indent_lines(lines)]

    @property
    def lasting(self) -> Iterable[str]:
        """The names of counts that the block adds to the core's own counters, not to the tally."""
        return ()

    @property
    def adder(self) -> Callable[..., None]:
        """The method of the core that adds what a block has counted to the core's tally."""
        return self.core.add_block

    def tally(self) -> Iterable[str]:
        """Return the lines at the end of a function that add its counts to the tally."""
        yield "add_block(begun, t, uses, first, used)"

    def crossing(self) -> Iterable[str]:
        """Yield the lines that tally what was done before the present instruction.

        They also restart the counts. At the end of a pass, the block's function adds the uses by
        all instructions of the pass. But these lines have already added the uses by the
        instructions before the present one. So that no use counts twice, the new count begins at
        minus the number of these uses.
        """
        uses = self.counts.get("uses", 0)
        yield from self.ends()
        if self.round is None and uses:
            yield f"uses += {uses}"
        yield f"add_block(begun, t + {self.offset}, uses, first, used)"
        yield f"begun = t + {self.offset}"
        yield "first = -1"
        if self.round is None:
            yield f"uses = -{uses}"
        else:
            yield f"owed = {-(-self.place // self.round.length) * self.round.uses - uses}"

    def border_test(self) -> Iterable[str]:
        """Yield the lines that test for a border at the present instruction.

        A border is an instruction at which the trace begins or ends to record.
        """
        yield f"if cut == {self.place}:"
        yield from indent_lines(self.crossing())
        yield f"    cut = next_border(done + {self.place})"
        yield f"    done = -{self.place}"
        yield "    if cut < 0:"  # the block must end here
        yield f"        pc = {self.address:#x}"
        yield from (f"        {name} += {self.counts[name]}" for name in self.lasting)
        yield "        done = 0"
        yield f"        t += {self.offset}"
        yield "        break"
        yield f"    room = cut - {len(self.instructions)}"
        yield "    bound = t"
        yield f"    cut += {self.place}"

    def ends(self) -> Iterable[str]:
        """Return the lines at the end of a pass that set `uses` and `used`.

        These are the number of uses of compute units, and the time at which the last use ends.
        """
        used = self.counts.get("uses", 0)
        if self.round is None:
            return (f"used = t + {self.last_use}",) if used else ()
        last = self.last_use if used else self.round.last
        whole = f"done // {self.round.length} * {self.round.uses}"
        whole += " + owed" if self.crosses else ""
        return (f"uses = {whole} + {used}", f"used = t + {last}")

    def _round(self) -> Round | None:
        """Return the length and the uses of a pass, if all passes through the block are equal.

        None means that they differ, or that they use no compute unit.
        """
        if "uses" not in self.tallied:
            return None
        if self.back is None:
            return None
        used = [self.core.uses(found.row) for found in self.instructions[: self.back]]
        if not any(used):
            return None
        last = max(place for place, units in enumerate(used) if units)
        cost = self.begins[self.back] + self.core.timing.taken
        return Round(len(used) + 1, sum(used), self.begins[last + 1] - cost)

    def use(self, found: Decoded) -> None:
        """Count the compute units that the present instruction uses."""
        used = self.core.uses(found.row)
        if used:
            if self.cutting:
                self.lines.append(f"if first < 0: first = t + {self.offset}")
            self.counts["uses"] += used
            self.last_use = self.offset + self.cost(found)
