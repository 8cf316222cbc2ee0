"""The cost of recording for the emulation: equal runs with the trace off, in one window, in groups.

Recording changes neither cycles nor results (tests show this); these figures are CPU time of the
host. `off` is `trace.recording = false`. `at rest` is the default: the trace blocks are there, but
no parameter is written. `one window` records all in one group of every core. `as profiled` records
all in groups of as many instructions as `macaw profile` takes, in four register groups, and writes
each record to memory. `groups` is like `as profiled` with 1,000 instructions in a group; or with
one, if the instruction is an exe of the array, a transfer or a chain of nnp, which take some tens
of microseconds. Emulation loses less than 30% of its speed if it takes less than 1 / 0.7 times as
long.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

import macaw
from benchmarks import array, dma, fim, nnp, scalar
from benchmarks.figures import LOWER, Effort, Figure
from benchmarks.measure import ROUNDS, timed
from macaw.asm.program import Program
from macaw.asm.source import Source
from macaw.emu.device import Device
from macaw.isa.config import Configuration
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.trace import RECORD
from macaw.profiling.profiler import default_record_size

PROGRAMS = Path(__file__).parents[1] / "programs"
GROUP = 1000
RECORDS = 5000  # room for each core
SHORTEST = 0.4  # seconds of `off` in a round
REPEATS = 8  # runs of the loops, so that their code is hot most of the time
LONGER = 8  # times as many passes in a long run of the loops


# Names of recordings, and what is written into the parameters of a core's block that begins so
# many instructions, in a case with groups of `group`; None: it cannot record.
Parameters = Callable[[int, int], dict[str, int]]


def cycling(group: int) -> dict[str, int]:
    """Return trace parameters that record all instructions, `group` in each record.

    The records use four register groups in turn.
    """
    return {"num": group, "step": group, "overhead": 4 * group, "mode": 1}


RECORDINGS: dict[str, Parameters | None] = {
    "off": None,
    "at rest": lambda begun, group: {},
    "one window": lambda begun, group: {"num": 0xFFFF_FFFF, "mode": 1},
    "as profiled": lambda begun, group: cycling(default_record_size(begun)),
    "groups": lambda begun, group: cycling(group),
}
MARKING: dict[str, Parameters | None] = {"off": None, "marked": lambda begun, group: {"mode": 0}}


def loops(times: int = 1) -> dict[str, str]:
    """Return the sources of the loops by name, each with `times` times as many passes."""
    passes = f"li      s0, {scalar.PASSES}"
    return {
        "cp, a loop over bytes": scalar.CP.replace(
            passes, f"li      s0, {times * REPEATS * scalar.PASSES}"
        ),
        "vc, the same loop": scalar.VC.replace(passes, f"li      s0, {times * 2 * scalar.PASSES}"),
        "vc, registers alone": scalar.VC_REGISTERS.replace(
            "100000", str(times * REPEATS * 100_000)
        ),
        "vc, pmac": scalar.PMAC.format(
            name="s8", passes=times * 2 * scalar.PMAC_PASSES["reference"]
        ),
    }


LOOPS = loops()
# The markers of the loop of cp, around its passes.
MARKED = LOOPS["cp, a loop over bytes"].replace("pass:", "        trace_begin 0\npass:", 1)
MARKED = MARKED.replace("        mv      a0, a2", "        trace_end 0\n        mv      a0, a2")
SAMPLES = ("six_cores/six_cores.s", "digits_cnn/digits_cnn.s", "nnp_mlp/nnp_mlp.s", "fim_gru/gru.s")


# Two blocks of an island side by side: tiles of dot products.
BLOCK = """
        .block  banks={banks}
        mmr     op, mul
        mmr     arrange, dot
        loop    400
        act     0
        rop <- iosa[0]
        rz <- rop * iosa[16:32]
        endloop
        end
"""
BLOCKS = "        .device base\n        .core   fim, island=0\n" + "".join(
    BLOCK.format(banks=banks) for banks in ("0-7", "8-15")
)
TRANSFERS = ("the same, 16 rows of 64, strided", "external to external, 64 KiB")


@dataclass(frozen=True)
class Case:
    """A program to run, with the number of instructions in a group."""

    name: str
    program: Program
    config: Configuration
    inputs: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    group: int = GROUP


def cases() -> Iterator[Case]:
    """Yield a program for each core, and samples in which all cores record."""
    base = macaw.configuration("base")

    def assembled(text: str, config: Configuration = base) -> Program:
        return macaw.assemble(Source(text, "bench.s"), device=config)

    for name, text in LOOPS.items():
        yield Case(name, assembled(text), base)
    for density in (0.1, 1.0):
        found, x = array.product("base", density)
        for said, program in (("", found.assemble()), (", balanced", array.balanced(found))):
            yield Case(
                f"pe, product of density {density}{said}", program, found.config, {"x": x}, 1
            )
    for what in TRANSFERS:
        yield Case(f"dma, {what}", assembled(dma.source_of(what)), base, group=1)
    config = nnp.device(8, (nnp.CHANNELS // nnp.NATIVE) ** 2)
    yield Case("nnp, a convolution", assembled(nnp.convolution_source(), config), config, group=1)
    yield Case("fim, a product", assembled(fim.source()), base)
    yield Case("fim, two blocks", assembled(BLOCKS), base)
    for path in SAMPLES:
        program = macaw.load(PROGRAMS / path)
        assert program.device is not None
        own = (PROGRAMS / path).parent / f"{program.device}.toml"
        config = macaw.configuration(own if own.exists() else program.device)
        yield Case(f"programs/{path}, all cores", program, config)


def begun(case: Case) -> dict[str, int]:
    """Return the number of instructions that each core begins."""
    device = Device(case.config)
    device.load(case.program)
    for name, values in case.inputs.items():
        device.write_tensor(name, values)
    device.run()
    device.sync()
    return {core.name: core.start_count for core in device.order}


def seconds(case: Case, recording: Parameters | None, counts: Mapping[str, int]) -> float:
    """Return the CPU seconds of a run with the trace parameters `recording` in all cores.

    With None, the cores cannot record. `counts` has the instructions that each core begins.
    """
    config = case.config.changed({"trace.recording": recording is not None})
    device = Device(config)
    device.load(case.program)
    for name, values in case.inputs.items():
        device.write_tensor(name, values)
    end, size = EXTERNAL + config["mem.external_bytes"], RECORDS * RECORD.size
    for place, core in enumerate(device.order):
        chosen = recording(counts[core.name], case.group) if recording is not None else {}
        area = {"spill": end - (place + 1) * size, "spill_end": end - place * size}
        for name, value in (area | chosen).items() if chosen else ():
            core.write_trace(f"trace_{name}", value)
    return timed(device.run)


def measured(
    case: Case, recordings: Mapping[str, Parameters | None], effort: Effort
) -> dict[str, list[float]]:
    """Return the CPU seconds of `off` in each round, and of each other recording as a multiple.

    In each round all recordings run in turn, in another order each time, until `off` has run for
    `SHORTEST` seconds. So other load on the machine affects all of them.
    """
    counts = begun(case)
    times = (
        1
        if effort.small
        else max(1, math.ceil(SHORTEST / seconds(case, recordings["off"], counts)))
    )
    names = list(recordings)
    ratios: dict[str, list[float]] = {name: [] for name in names}
    alone = []
    for _ in range(effort.rounds(ROUNDS)):
        spent = dict.fromkeys(names, 0.0)
        for _ in range(times):
            for name in names:
                spent[name] += seconds(case, recordings[name], counts)
            names = names[1:] + names[:1]
        alone.append(spent["off"] / times)
        for name in names:
            ratios[name].append(spent[name] / spent["off"])
    return ratios | {"off": alone}


def added(found: Mapping[str, list[float]], name: str) -> list[float]:
    """Return the milliseconds that the recording `name` adds in each round of `measured`."""
    return [1000 * off * (ratio - 1) for off, ratio in zip(found["off"], found[name], strict=True)]


def ratios(row: str, found: Mapping[str, list[float]], table: str = "") -> Iterator[Figure]:
    """Yield the seconds of `off` and the multiples of the other recordings, from `measured`."""
    yield Figure(row, "off, s", tuple(found["off"]), LOWER, table=table)
    for name, values in found.items():
        if name != "off":
            yield Figure(row, name, tuple(values), LOWER, "off", table)


def long_run(case: Case, short: Mapping[str, list[float]], effort: Effort) -> Iterator[Figure]:
    """Yield the figures of a run of a loop with `LONGER` times as many passes, if small with 2.

    `case` is the short run of the loop, and `short` is what was measured for it. The line through
    the milliseconds that a recording adds to both runs has a constant part, which does not grow
    with the passes. The slope is the time of further passes, as a multiple of that without a
    recording.
    """
    longer = 2 if effort.small else LONGER
    text = loops(longer)[case.name]
    program = macaw.assemble(Source(text, "bench.s"), device="base")
    table = f"{longer} times as many passes"
    found = measured(Case(case.name, program, case.config), RECORDINGS, effort)
    yield from ratios(case.name, found, table)
    for name in ("as profiled", "groups"):
        both = zip(added(short, name), added(found, name), strict=True)
        constant = tuple((longer * few - many) / (longer - 1) for few, many in both)
        yield Figure(case.name, f"constant {name}, ms", constant, LOWER, table=table)
        times = zip(short["off"], found["off"], short[name], found[name], strict=True)
        slope = tuple((many * y - few * x) / (many - few) for few, many, x, y in times)
        yield Figure(case.name, f"slope {name}", slope, LOWER, "off", table)


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the seconds of runs that cannot record, and how many times as long others take."""
    base = macaw.configuration("base")
    for case in itertools.islice(cases(), 1 if effort.small else None):
        found = measured(case, RECORDINGS, effort)
        yield from ratios(case.name, found)
        if case.name in LOOPS:
            yield from long_run(case, found, effort)
    marked = Case("marked", macaw.assemble(Source(MARKED, "bench.s"), device="base"), base)
    times = measured(marked, MARKING, effort)["marked"]
    row = "cp between trace_begin and trace_end"
    yield Figure(row, "times", tuple(times), LOWER, "off", "marked")
