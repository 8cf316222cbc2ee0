"""Programs that decide at run time which island does what (seed 004 ¶60: scheduling by the host).

cp keeps a list of units, each with a way for every island that can do it. Of the ready ones, in
their order, it takes the way that ends first by what each island is still at: an island that is at
work counts as free when its blocks are predicted to end (if it is late, in as many cycles again as
it is late by now), and if it is the best one the unit waits.
A block tells that it is done by a pointer of a buffer, which cp reads without waiting for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from macaw.isa.config import Configuration
from macaw.isa.fim import CORE, POINTERS
from macaw.isa.fim_circuit import BUFFERS, COLUMN_BYTES
from macaw.isa.fim_islands import geometry, island_address
from macaw.isa.memory_map import REGISTERS
from macaw.lowering.fim.block_program import Block, Word
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.plan import Option, Plan, Step
from macaw.lowering.fim.program import LoweredGraph, Writer
from macaw.lowering.listing import Listing

UNIT, WAY = 3, 7  # words of a unit and of a way in cp's tables
WINDOW = 16  # units that cp looks at: the first that has not started, and those after it
FAR = 8  # times the cycles of the best way: such ways are left out


@dataclass(frozen=True)
class Choice:
    """The ways of a unit, a step each, and the units that read what it makes."""

    steps: tuple[Step, ...]
    needs: int  # units that must have been done
    readers: tuple[int, ...]


def choices(plan: Plan) -> list[Choice]:
    """The units of a plan in its order, each with the least way of every island and of the host."""
    maker = {step.option.task.output.name: step.number for step in plan.steps}
    needs = []
    for step in plan.steps:
        names = {tensor.memory.name for task in step.tasks for tensor in task.inputs}
        needs.append({maker[name] for name in names if name in maker} - {step.number})
    units: list[Choice] = []
    number = 0
    for step in plan.steps:
        ways = _ways(plan.considered[step.number])
        steps = tuple(Step(number + place, way) for place, way in enumerate(ways))
        number += len(steps)
        readers = tuple(unit for unit, names in enumerate(needs) if step.number in names)
        units.append(Choice(steps, len(needs[step.number]), readers))
    return units


def _ways(options: Sequence[Option]) -> list[Option]:
    ways: dict[int | None, Option] = {}
    for option in options:  # the least first
        if option.total <= FAR * options[0].total:
            ways.setdefault(option.island, option)
    return list(ways.values())


def emit(
    plan: Plan, graph: Graph, config: Configuration, device: str = "base", name: str = ""
) -> LoweredGraph:
    """The program of a plan's units; which island does them is decided when it runs.

    Raises `LowerError` if islands or memory have not the room for all ways.
    """
    return _Dispatcher(choices(plan), plan, graph, config, device, name).written()


class _Dispatcher(Writer):
    """A source on its way."""

    def __init__(
        self,
        units: Sequence[Choice],
        plan: Plan,
        graph: Graph,
        config: Configuration,
        device: str,
        name: str,
    ) -> None:
        self.units = units
        steps = tuple(step for unit in units for step in unit.steps)
        super().__init__(replace(plan, steps=steps, actions=()), graph, config, device, name)
        self.islands = sorted({s.option.island for s in steps if s.option.island is not None})
        self.size = geometry(config).size

    def title(self) -> str:
        """What the program is, for its first lines."""
        return (
            f"Tasks of a graph on the islands of {self.device}: {len(self.units)} units,"
            " whose islands are chosen at run time."
        )

    def scratch_label(self, step: Step, symbol: str) -> str:
        """Copies come one after the other: steps share the place of results that are tiles.

        Other places have zeros where no copy goes, and each step has its own.
        """
        is_result = symbol.endswith(".tiles")
        return "_results" if is_result else super().scratch_label(step, symbol)

    # --- cp ---

    def program(self) -> None:
        """cp's code."""
        sizes = f".set _UNIT, {4 * UNIT}\n.set _WAY, {4 * WAY}\n.set _WINDOW, {WINDOW}"
        self.code += _text(sizes + _LOOP_HEAD)
        for island in self.islands:
            self.code += _text(_DONE.format(island=island))
        self.code += _text(_CHOICE)
        for unit in self.units:
            for step in unit.steps:
                self._way(step)
        self.code.append("_over:")

    def _way(self, step: Step) -> None:
        """Two routines: to start a way, and to fetch what it has made."""
        self.code.append(f"go{step.number}:")
        if step.option.island is None:
            self.host(step)
            self.code.append("ret")
            return
        self.bring(step)
        self.start(step)
        self.code += ["ret", f"out{step.number}:"]
        self.fetch(step)
        self.code.append("ret")

    def wait_for_inputs(self, step: Step) -> None:
        """Its inputs are what was queued last."""
        self.code.append("dma.wait zero")

    # --- islands ---

    def blocks(self, step: Step) -> list[Block]:
        """The step's blocks; the last one says at its end that it is done."""
        blocks = super().blocks(step)
        number = self._buffer(step)
        last = replace(
            blocks[-1],
            items=(*blocks[-1].items, Word(f"mmr b{number}_low, {self._done(step):#x}")),
        )
        return [*blocks[:-1], last]

    def _done(self, step: Step) -> int:
        """The address that a pointer has then: no buffer begins there."""
        island = step.option.island
        assert island is not None
        return island_address(island) + self.size - COLUMN_BYTES * (step.number + 1)

    def _buffer(self, step: Step) -> int:
        """The buffer whose pointer it is: one that no other block of the step has."""
        return min(len(super().blocks(step)), BUFFERS - 1)

    def _pointer(self, step: Step) -> int:
        """Where cp reads it."""
        number = self._buffer(step)
        (row,) = (row for row in POINTERS if row.name == f"b{number}_low")
        return REGISTERS + ((CORE.number + (step.option.island or 0)) << 12) + row.address

    # --- tables ---

    def more_data(self, out: Listing) -> None:
        """The list of units and their ways, in local memory."""
        out.block(".section .data.cp\n.balign 4")
        out.comment("units: needs, ways, readers")
        out.put("", label="_units")
        for number, unit in enumerate(self.units):
            out.put(f".word {unit.needs}, ways{number}, readers{number}")
        out.put("", label="_units_end")
        out.put(f".word {len(self.units)}", label="_left")
        for island in self.islands:
            out.comment(f"island {island}: busy until about, pointer, what it is when done,")
            out.comment("unit, routine that fetches")
            out.put(".word 0, 0, 0, 0, 0", label=f"island{island}")
        out.comment("ways: state of the island or 0, cycles in all, cycles until it is free,")
        out.comment("routine, pointer, what it is when done, routine that fetches")
        for number, unit in enumerate(self.units):
            out.put("", label=f"ways{number}")
            for step in unit.steps:
                out.put(".word " + ", ".join(self._row(step)))
            out.put(".word -1")
            out.put(
                ".word "
                + ", ".join([*(f"_units + {4 * UNIT * unit}" for unit in unit.readers), "0"]),
                label=f"readers{number}",
            )

    def _row(self, step: Step) -> list[str]:
        option, number = step.option, step.number
        if option.island is None:
            return ["0", str(option.total), "0", f"go{number}", "0", "0", "0"]
        until = option.bring + option.compute
        place = [f"{self._pointer(step):#x}", f"{self._done(step):#x}", f"out{number}"]
        return [f"island{option.island}", str(option.total), str(until), f"go{number}", *place]


def _text(code: str) -> list[str]:
    return [line for line in code.splitlines() if line.strip()]


# Offsets: a unit's needs 0, ways 4, readers 8; an island's until 0, pointer 4, done 8, unit 12,
# fetch 16; a way's island 0, cycles 4, until 8, routine 12, pointer 16, done 20, fetch 24.
_LOOP_HEAD = """
la s5, _units # the first that has not started
j _again
_made: # s0: a unit that is done: those that read it need one less
lw t0, 8(s0)
_made_next: lw t1, 0(t0)
beqz t1, _made_end
lw t2, 0(t1)
addi t2, t2, -1
sw t2, 0(t1)
addi t0, t0, 4
j _made_next
_made_end: la t0, _left
lw t1, 0(t0)
addi t1, t1, -1
sw t1, 0(t0)
ret
_again:
"""
_DONE = """
la s1, island{island} # island {island}: has it done what it was at?
lw t0, 4(s1)
beqz t0, _idle{island}
lw t1, 0(t0)
lw t2, 8(s1)
bne t1, t2, _idle{island}
sw zero, 4(s1)
lw s0, 12(s1)
lw t0, 16(s1)
jalr t0
call _made
_idle{island}:
"""
_CHOICE = """
la t0, _units_end
li t1, -1
_first: beq s5, t0, _all_begun
lw t2, 0(s5)
bne t2, t1, _look
addi s5, s5, _UNIT
j _first
_look: mv s0, s5 # from it on, of some, the first that is ready and whose best island is free
addi s6, s5, _WINDOW * _UNIT
bltu s6, t0, _unit
mv s6, t0
_unit: lw t0, 0(s0)
bnez t0, _next
lw t0, 4(s0)
li s2, -1 # the end of the best way so far, and the way
li s3, 0
csrr s4, cycle
_way: lw t1, 0(t0)
li t2, -1
beq t1, t2, _chosen
mv t3, s4 # when it could begin
beqz t1, _begins
lw t4, 4(t1)
beqz t4, _begins
lw t4, 0(t1)
sub t4, t4, t3
bgez t4, _later
neg t4, t4 # it is late: as late again
_later: add t3, t3, t4
_begins: lw t4, 4(t0)
add t3, t3, t4
bgeu t3, s2, _no_better
mv s2, t3
mv s3, t0
_no_better: addi t0, t0, _WAY
j _way
_chosen: lw s1, 0(s3)
beqz s1, _go
lw t0, 4(s1)
bnez t0, _next # the best one is at work
_go: li t0, -1
sw t0, 0(s0)
beqz s1, _by_host
lw t0, 8(s3)
add t0, t0, s4
sw t0, 0(s1)
lw t0, 16(s3)
sw t0, 4(s1)
lw t0, 20(s3)
sw t0, 8(s1)
sw s0, 12(s1)
lw t0, 24(s3)
sw t0, 16(s1)
lw t0, 12(s3)
jalr t0
j _again
_by_host: lw t0, 12(s3)
jalr t0
call _made
j _again
_next: addi s0, s0, _UNIT
bltu s0, s6, _unit
_all_begun: la t0, _left
lw t0, 0(t0)
bnez t0, _again
j _over
"""
