"""Annotates the lines of a program with the costs of a run: cycles, causes, MACs and bytes.

The costs come from separate runs, in which accountants charge every cycle and meters count every
activity (`macaw.emu.cost_run`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from macaw import api, arguments
from macaw.arguments import check_arguments
from macaw.asm.program import Program
from macaw.emu.charges import Charge
from macaw.emu.core import Core
from macaw.emu.cost_run import InstructionCost, RunCosts, run_with_costs
from macaw.emu.critical_path import heat_of
from macaw.execution import configuration_of
from macaw.input_binding import join_inputs
from macaw.profiling.annotation import AnnotatedLine, Annotation, LineCost
from macaw.profiling.recording import (
    Job,
    ProfileError,
    endless,
    item_inputs,
    make_job,
    program_name,
)
from macaw.profiling.source_lines import SourceLine, SourceLines, disassemble, read_lines


@check_arguments(
    program=arguments.program_or_path,
    inputs=arguments.optional(arguments.mapping(arguments.anything, "arrays by name")),
    device=arguments.optional(arguments.device),
    item=arguments.whole(0),
    jitter=arguments.optional(arguments.whole(0)),
    max_cycles=arguments.optional(arguments.whole(1)),
    name=arguments.word,
    keyword_inputs=arguments.anything,
)
def annotate(
    program: Program | api.FilePath,
    inputs: Mapping[str, object] | None = None,
    *,
    device: api.DeviceLike | None = None,
    item: int = 0,
    jitter: int | None = None,
    max_cycles: int | None = None,
    name: str = "",
    **keyword_inputs: object,
) -> Annotation:
    """Run a program, or the program in a file, and return the costs of each line of its source.

    The inputs are arrays, given in a mapping, as keywords, or both. If they have a batch axis,
    `item` is the index on it. `device` overrides the device of the program, `jitter` is the seed of
    noise in the timing of DRAM, and `name` is the program's name in the annotation. Raises
    `InputError` for inputs that do not fit, `ProfileError` if the program does not end by itself
    within `max_cycles`, and for a file the errors of `macaw.load`.
    """
    inputs = join_inputs(inputs, keyword_inputs)
    item, jitter, max_cycles = arguments.python_numbers((item, jitter, max_cycles))
    if not isinstance(program, Program):
        name = name or str(program)
        program = api.load(program, device=device)
    config = configuration_of(program, device)
    job = make_job(program, config, item_inputs(program, inputs, item), max_cycles)
    return annotate_job(job.with_jitter(jitter), name or program_name(program))


def annotate_job(job: Job, name: str) -> Annotation:
    """Run a job and return the costs of each line of its program; `name` is the program's name.

    Raises `ProfileError` if the program does not end by itself.
    """
    stop, run = run_with_costs(job.machine, job.max_cycles)
    if stop.reason != "exit":
        raise ProfileError(*endless(stop))
    return annotation_of(run, name, job.name, stop.exit_code or 0)


def annotation_of(run: RunCosts, name: str, device: str, exit_code: int = 0) -> Annotation:
    """Return the annotation of a run: its costs by line.

    `name` and `device` are the names of the program and of the device, `exit_code` is that of the
    program.
    """
    sums = _collect(run)
    cycles = run.device.cycle
    lines = [_annotated(line, sums[line], run, cycles) for line in sums]
    weights: Counter[str] = Counter()
    for line in lines:
        weights[line.file] += line.run
    order = sorted(weights, key=lambda file: (not file, -weights[file], file))
    lines.sort(key=lambda line: (order.index(line.file), line.number, not line.place))
    return Annotation(
        name,
        device,
        cycles,
        {core: run.units[core] for core in run.costs if _has_worked(run.costs[core])},
        tuple(lines),
        {file: tuple(text) for file in order if file and (text := read_lines(file))},
        exit_code,
    )


def _has_worked(costs: Mapping[int | None, InstructionCost]) -> bool:
    return any(address is not None or cost.run for address, cost in costs.items())


@dataclass
class _CoreSums:
    """The costs of one line on one core so far.

    `run` has the cycles on the critical path by cause, `cycles` has all cycles by cause. `whom`
    divides those cycles of `run` in which the core waited by what it waited for. `bytes` has the
    moved bytes by memory.
    """

    core: Core
    address: int | None  # the lowest of the line's instructions
    run: Counter[str] = field(default_factory=Counter)
    cycles: Counter[str] = field(default_factory=Counter)
    whom: Counter[str] = field(default_factory=Counter)
    macs: int = 0
    bytes: Counter[str] = field(default_factory=Counter)

    def add(self, cost: InstructionCost, places: SourceLines) -> None:
        """Add the costs of an instruction; `places` finds the lines of the core's instructions."""
        for charge, cycles in cost.run.items():
            self.run[charge.cause] += cycles
            self.whom[_whom(charge, places)] += cycles
        for charge, cycles in cost.charges.items():
            self.cycles[charge.cause] += cycles
        self.macs += cost.macs
        self.bytes.update(cost.bytes)

    def cost(self) -> LineCost:
        """Return the sums as a `LineCost` record."""
        return LineCost(
            self.core.name,
            self.core.table.name,
            _most_first(self.run),
            _most_first(self.cycles),
            _most_first(self.whom),
            self.macs,
            _most_first(self.bytes),
        )


def _whom(charge: Charge, places: SourceLines) -> str:
    """Return what the core waited for during a charge: a core, a unit, or an instruction.

    An instruction is returned as its source position and text, which `places` finds. The result is
    empty if the core did not wait.
    """
    return charge.whom if charge.producer is None else places.line(charge.producer).sentence


def _collect(run: RunCosts) -> dict[SourceLine, list[_CoreSums]]:
    """Return the costs of each line: an item for each core, in the order of the cores' numbers."""
    lines: dict[SourceLine, list[_CoreSums]] = {}
    for core in run.device.order:
        places = SourceLines(run.device, core)
        for address, cost in sorted(run.costs[core.name].items(), key=_address):
            sums = lines.setdefault(places.line(address), [])
            if not sums or sums[-1].core is not core:
                sums.append(_CoreSums(core, address))
            sums[-1].add(cost, places)
    return lines


def _address(item: tuple[int | None, object]) -> int:
    return -1 if item[0] is None else item[0]


def _annotated(
    line: SourceLine, sums: list[_CoreSums], run: RunCosts, cycles: int
) -> AnnotatedLine:
    costs = tuple(one.cost() for one in sums)
    causes: Counter[str] = Counter()
    for cost in costs:
        causes.update(cost.run)
    text, first = line.text, sums[0]
    if not text and first.address is not None:  # the source cannot be read
        text = disassemble(run.device, first.core, first.address)
    return AnnotatedLine(
        line.place,
        text,
        line.file,
        line.number,
        causes.total(),
        _most_first(causes),
        sum(cost.macs for cost in costs),
        sum(sum(cost.bytes.values()) for cost in costs),
        heat_of(causes.total(), cycles) if line.place else 0,
        costs,
    )


def _most_first(counts: Counter[str]) -> dict[str, int]:
    """Return the counts, the greatest first, without the count whose name is empty."""
    named = [item for item in counts.items() if item[0]]
    return dict(sorted(named, key=lambda item: (-item[1], item[0])))
