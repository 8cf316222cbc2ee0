"""Writes programs that choose the island of each task at run time (seed 004 ¶60).

cp has a table of tasks, each with one variant for every island that can do the task, except for
variants that are much slower than the fastest. cp looks at up to `WINDOW` tasks, from the first one
that has not started. It starts the first of these whose inputs are ready and whose best island is
free. The best island is the one whose variant has the earliest predicted end. For this prediction,
cp assumes that a busy island becomes free at the predicted end of its blocks. If the island is
already n cycles late, cp assumes that it becomes free n cycles from now. A block signals its end by
setting the pointer of a buffer, which cp polls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from macaw.isa.config import Configuration
from macaw.isa.fim import CORE, POINTERS
from macaw.isa.fim_circuit import BUFFERS, COLUMN_BYTES
from macaw.isa.fim_islands import geometry, island_address
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.memory_map import REGISTERS
from macaw.lowering.fim.block_program import Block, Word
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.plan import GraphPlan, Option, Step
from macaw.lowering.fim.program import LoweredGraph, ProgramWriter
from macaw.lowering.listing import Listing

UNIT, WAY = 3, 7  # number of words of a task and of a variant in cp's tables
WINDOW = 16  # number of tasks that cp considers, from the first one that has not started
FAR = 8  # variants that take more than this factor times the best variant's cycles are left out


@dataclass(frozen=True)
class RuntimeTask:
    """A task that cp schedules: its variants, and the tasks that read its result.

    Each of `steps` is a variant, either on the host or on an island that no other variant uses.
    `needs` is the number of tasks that have to end before this one starts. `readers` are the
    indices of the tasks that read the result.
    """

    steps: tuple[Step, ...]  # the variants
    needs: int  # number of tasks that have to end first
    readers: tuple[int, ...]  # indices of the tasks that read the result


def runtime_tasks(plan: GraphPlan) -> list[RuntimeTask]:
    """Return one task for each step of a plan. At run time, cp chooses a variant of each task.

    The variants of a task are the best option of each island or of the host. Options that take more
    than `FAR` times as long as the fastest one are left out.
    """
    maker = {
        tensor.memory.name: step.number for step in plan.steps for tensor in step.option.results
    }
    needs = []
    for step in plan.steps:
        names = {tensor.memory.name for task in step.tasks for tensor in task.inputs}
        needs.append({maker[name] for name in names if name in maker} - {step.number})
    units: list[RuntimeTask] = []
    number = 0
    for step in plan.steps:
        ways = _ways(plan.options_by_cost[step.number])
        steps = tuple(Step(number + place, way) for place, way in enumerate(ways))
        number += len(steps)
        readers = tuple(unit for unit, names in enumerate(needs) if step.number in names)
        units.append(RuntimeTask(steps, len(needs[step.number]), readers))
    return units


def _ways(options: Sequence[Option]) -> list[Option]:
    ways: dict[int | None, Option] = {}
    for option in options:  # sorted by cycles
        if option.total <= FAR * options[0].total:
            ways.setdefault(option.island, option)
    return list(ways.values())


def emit(
    plan: GraphPlan, graph: Graph, config: Configuration, device: str = "base", name: str = ""
) -> LoweredGraph:
    """Return the program of a plan in which cp chooses the island of each task at run time.

    `device` is the argument of `.device`. If `name` is not empty, the names of files begin with
    `name` and a dot. Raises `LowerError` if the variants do not fit the islands or the memory.
    """
    return _Dispatcher(runtime_tasks(plan), plan, graph, config, device, name).source_text()


class _Dispatcher(ProgramWriter):
    """Writes a program that chooses islands at run time: cp's code and tables, and the blocks."""

    def __init__(
        self,
        units: Sequence[RuntimeTask],
        plan: GraphPlan,
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
        """Return the comment at the top of the source."""
        return (
            f"Tasks of a graph on the islands of {self.device}: {len(self.units)} units,"
            " whose islands are chosen at run time."
        )

    def scratch_label(self, step: Step, symbol: str) -> str:
        """Return the label of the local memory `symbol` through which the copies of a step pass.

        All steps use the same memory to turn tiles of results into rows, because the dma makes
        copies one after the other. For other copies each step has memory of its own, which must
        remain zero where no copy writes.
        """
        is_result = symbol.endswith(".tiles")
        return "_results" if is_result else super().scratch_label(step, symbol)

    # --- cp ---

    def program(self) -> None:
        """Write the code of cp: the loop that schedules, and the routines of each variant."""
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
        """Write two routines of cp: one starts the variant `step`, the other fetches its result.

        A variant on the host has only the first routine, which makes all of its copies.
        """
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

    def wait_for_inputs(self) -> None:
        """Write the instruction that waits for all queued copies; the last ones bring inputs."""
        self.code.append("dma.wait zero")

    # --- islands ---

    def blocks(self, step: Step) -> list[Block]:
        """Return the blocks of a step; the last block signals the step's end."""
        blocks = super().blocks(step)
        number = self._buffer(step)
        last = replace(
            blocks[-1],
            items=(*blocks[-1].items, Word(f"mmr b{number}_low, {self._done(step):#x}")),
        )
        return [*blocks[:-1], last]

    def _done(self, step: Step) -> int:
        """Return the pointer value that signals the end of a step.

        It is an address at which no buffer begins, different for each step.
        """
        island = step.option.island
        assert island is not None
        return island_address(island) + self.size - COLUMN_BYTES * (step.number + 1)

    def _buffer(self, step: Step) -> int:
        """Return the number of the buffer whose pointer signals the end of a step.

        No block of the step pulls from this buffer or pushes to it. If the step has blocks for all
        buffers, it is the buffer of the last block, which is no longer needed at the block's end.
        """
        return min(len(super().blocks(step)), BUFFERS - 1)

    def _pointer(self, step: Step) -> int:
        """Return the address at which cp reads the pointer that signals the end of a step."""
        number = self._buffer(step)
        (row,) = (row for row in POINTERS if row.name == f"b{number}_low")
        return REGISTERS + ((CORE.number + (step.option.island or 0)) << 12) + row.address

    # --- tables ---

    def more_data(self, out: Listing) -> None:
        """Write the tables of tasks and variants, which cp has in its local memory."""
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


# Offsets. Of a task (unit): needs 0, variants (ways) 4, readers 8. Of an island: until 0, pointer
# 4, done 8, unit 12, fetch 16. Of a variant: island 0, cycles 4, until 8, routine 12, pointer 16,
# done 20, fetch 24.
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
