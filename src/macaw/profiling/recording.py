"""Records runs: sets the trace registers before a run, and reads the spill area after it.

A job and its recording are plain data, so that another process or machine can run the job.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from macaw.asm.program import Program
from macaw.emu.breaks import Break, Breakable
from macaw.emu.core import Core
from macaw.emu.device import Device
from macaw.emu.waits import Waiting
from macaw.errors import EXIT_FAILURE, InputError
from macaw.input_binding import bind
from macaw.isa import config as configs
from macaw.isa.config import Configuration
from macaw.isa.errors import MacawError
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.trace import ALL, AUTO, GROUP, MARK, PARAMETERS, RECORD
from macaw.phrases import shape_text
from macaw.profiling.model import Subject

PAGE = 4096
MARK_MODE_BYTES = 1 << 20  # spill area of a core in mark mode, whose number of records is unknown
MOST_BYTES = 1 << 26  # of all spill areas
STACK_BYTES = 1 << 20  # left free at the end of memory for executables of other tools

# Names of trace registers, from the table `PARAMETERS`.
MODE, BEGIN, NUM, STEP, OVERHEAD, LOOPS, SPILL, SPILL_END = (row.name for row in PARAMETERS[:8])

Parameters = Mapping[str, int]  # trace registers by name
Wait = tuple[int, int, int]  # begin, end, bit mask of the awaited cores


class ProfileError(MacawError):
    """The error for a program that cannot be profiled: it does not exit, or records nothing."""

    status = EXIT_FAILURE


class Record(NamedTuple):
    """A record that a register group of a trace block wrote to memory (the spill area).

    `group` is the number of the register group, `loop` the number of the loop over all groups, from
    0 on (0 in mark mode). The record is for `instructions` instructions; `first` is the number of
    the first one in the order of execution.
    """

    group: int  # number of the register group
    loop: int  # number of the loop over the register groups, from 0 on; 0 in mark mode
    first: int  # number of the first instruction, in the order executed
    instructions: int  # their count
    counters: dict[str, int]  # by `macaw.isa.trace.GROUP`

    @property
    def instruction_range(self) -> tuple[int, int]:
        """The number of the first instruction in the run, and the count of instructions."""
        return self.first, self.instructions

    @property
    def begin(self) -> int:
        """The cycle in which the first instruction started."""
        return self.counters["t_begin"]

    @property
    def end(self) -> int:
        """The first cycle after the last instruction."""
        return self.counters["t_end"]


@dataclass(frozen=True)
class Job:
    """A run to be done: a program with inputs on a device, and what to record.

    `device` is the device's configuration as TOML, `name` the device's name. `parameters` are the
    trace parameters by core.
    """

    program: Program
    device: str  # configuration as TOML
    name: str  # of the device
    inputs: Mapping[str, NDArray[Any]]
    parameters: Mapping[str, Parameters] = field(default_factory=dict)  # by core
    jitter: int | None = None
    max_cycles: int | None = None

    @property
    def config(self) -> Configuration:
        """The device's configuration."""
        return configs.parse(self.device, self.name)

    def machine(self) -> Device:
        """Return a device at cycle 0 with the program and its inputs loaded; it does not record."""
        device = Device(self.config, jitter=self.jitter)
        device.load(self.program)
        for name, array in self.inputs.items():
            device.write_tensor(name, array)
        return device

    def with_jitter(self, seed: int | None) -> Job:
        """Return the same job with another seed for the jitter."""
        return replace(self, jitter=seed)


@dataclass(frozen=True)
class Recording:
    """What `run_job` has recorded of the run of a job.

    The mappings except `layers` are by core. `begun` has the number of started instructions, `lost`
    the number of records for which the memory (spill area) had no room. `failure` says why the
    program did not exit; it is empty if the program exited. `layers` has the cycle in which each
    layer of a network begins, by the layer's number; the number after the last layer has the cycle
    in which all layers are done.
    """

    cycles: int  # of the run
    records: Mapping[str, tuple[Record, ...]]  # by core, in the order of their first instructions
    waits: Mapping[str, tuple[Wait, ...]]  # by core, its waits for other cores
    begun: Mapping[str, int]  # by core, instructions started
    lost: Mapping[str, int]  # by core, the number of records for which the spill area had no room
    failure: str = ""
    layers: Mapping[int, int] = field(default_factory=dict)
    exit_code: int = 0
    disturbed: tuple[str, ...] = ()  # trace registers that the program set, as `trace_num of cp`


def endless(reason: object) -> tuple[str, str]:
    """Return message and hint of the error for a program that did not exit.

    `reason` is the reason for which the run stopped.
    """
    return f"the program does not end by itself: {reason}", "`macaw run` shows where"


def check_recording(found: Recording) -> None:
    """Raise `ProfileError` if the program did not exit, or set trace registers of the profiler."""
    if found.failure:
        raise ProfileError(*endless(found.failure))
    if found.disturbed:
        text = f"the program sets {', '.join(found.disturbed)}"
        raise ProfileError(f"{text}: records are lost or wrong", "profile it without these writes")


def make_job(
    program: Program,
    config: Configuration,
    inputs: Mapping[str, NDArray[Any]],
    max_cycles: int | None = None,
) -> Job:
    """Return a job that does not record; its run is stopped after `max_cycles` cycles."""
    return Job(program, config.to_toml(False), config.name, inputs, {}, None, max_cycles)


def item_inputs(
    program: Program, inputs: Mapping[str, object], item: int
) -> dict[str, NDArray[Any]]:
    """Return the inputs of a batch item.

    Raises `InputError` if the inputs do not fit the program, or if there is no such item.
    """
    binding = bind(program, inputs)
    last = (binding.items or 1) - 1
    if item > last:
        raise InputError(f"there is no item {item}, the last one is {last}")
    return binding.item(item)


def program_name(program: Program) -> str:
    """Return the name of a program for a report: the names of its sources."""
    return ", ".join(PurePath(name).name for name in program.source_files) or "program"


def digest_subject(job: Job) -> Subject:
    """Return the digests (SHA-256) of a job's program, device and inputs."""
    program, digest = job.program, hashlib.sha256()
    for section in sorted(program.sections, key=lambda section: section.address):
        place = (section.core, section.index, section.address, section.load_address, section.size)
        digest.update(repr(place).encode() + section.data)
    digest.update(repr((program.entry, program.tensors)).encode())
    inputs = {
        name: hashlib.sha256(repr((array.dtype.str, array.shape)).encode() + array.tobytes())
        for name, array in sorted(job.inputs.items())
    }
    return Subject(
        digest.hexdigest(),
        hashlib.sha256(job.device.encode()).hexdigest(),
        {name: input_digest.hexdigest() for name, input_digest in inputs.items()},
        {
            name: f"{array.dtype.name} {shape_text(array.shape)}"
            for name, array in sorted(job.inputs.items())
        },
    )


def run_job(job: Job) -> Recording:
    """Run a job and return its recording, with a `failure` if the program does not exit."""
    device = job.machine()
    for name, values in job.parameters.items():
        for register, value in values.items():
            device.cores[name].write_trace(register, value)
    waits = {name: _log_waits(core) for name, core in device.cores.items()}
    disturbed = _log_trace_writes(device, job)
    layers = _log_layers(device, job.program)
    stop = device.run(max_cycles=job.max_cycles)
    device.sync()
    return Recording(
        device.cycle,
        {name: read_records(device, name) for name in job.parameters},
        {name: tuple(log) for name, log in waits.items()},
        {name: core.start_count for name, core in device.cores.items()},
        {name: device.cores[name].trace.read("trace_lost") for name in job.parameters},
        "" if stop.reason == "exit" else str(stop),
        layers,
        stop.exit_code or 0,
        tuple(disturbed),
    )


def _log_trace_writes(device: Device, job: Job) -> dict[str, None]:
    """Return an empty dictionary, to which the next run adds writes that disturb the recording.

    A write does so if it gives a register that `job` set another value. Any write to the registers
    of a spill area does so, because it empties the area. A key is as `trace_num of cp`.
    """
    log: dict[str, None] = {}

    def note(core: str, values: Parameters, name: str, value: int) -> None:
        if name in values and (value != values[name] or name in (SPILL, SPILL_END)):
            log[f"{name} of {core}"] = None

    for core, values in job.parameters.items():
        device.cores[core].trace.on_write = partial(note, core, values)
    return log


def _log_layers(device: Device, program: Program) -> dict[int, int]:
    """Return an empty dictionary, to which the next run of `device` will add the starts of layers.

    The run adds {number of the layer: cycle in which the layer starts}, as in `Recording.layers`.
    For a program that is no compiled network, the dictionary stays empty.
    """
    log: dict[int, int] = {}
    control = device.order[0]
    entries = program.layer_entries
    if entries and isinstance(control, Breakable):

        def note(number: int) -> bool:
            log[number] = device.cycle
            return False

        control.set_breaks(
            {address: Break(partial(note, number)) for address, number in entries.items()}
        )
    return log


def _log_waits(core: Core) -> list[Wait]:
    """Return a list to which the core will append its waits for other cores while it runs."""
    log: list[Wait] = []
    # A wait at a window is for bytes of another core, which the mask does not name.
    windows = bool(core.table.windows)

    def record_wait(waiting: Waiting, time: int) -> None:
        if (waiting.cores or windows) and time > waiting.since:
            log.append((waiting.since, time, waiting.cores))

    core.on_wait = record_wait
    return log


def read_records(device: Device, core: str) -> tuple[Record, ...]:
    """Return the records in the spill area of a core, ordered by their first instructions.

    Records without instructions, between two markers that follow each other, are left out.
    """
    state = device.cores[core].trace.state
    size = max(0, state.trace_next - state.trace_spill)
    data = device.memory.peek(state.trace_spill, size) if size else b""
    rows = np.frombuffer(data, "<u4").reshape(-1, RECORD.size // 4).tolist()
    records = []
    for _, group, turn, first, instructions, *values in rows:
        if not instructions:
            continue
        counters = {row.name: value for row, value in zip(GROUP, values, strict=True)}
        records.append(Record(group, turn, first, instructions, counters))
    return tuple(sorted(records, key=lambda record: (record.first, record.begin)))


# Parameters ------------------------------------------------------------------------------


def marker_parameters(cores: Mapping[str, int]) -> dict[str, Parameters]:
    """Return, by core name, the trace parameters that record the code between markers.

    `cores` has the numbers of the cores by name.
    """
    return {core: {MODE: MARK} for core in cores}


def cycling_parameters(num: int, groups: int) -> Parameters:
    """Return the trace parameters that record all instructions, `num` in each record.

    The `groups` register groups are used in turn, so a group opens again after `num` times `groups`
    instructions.
    """
    return {
        MODE: AUTO,
        BEGIN: 0,
        NUM: num,
        STEP: num,
        OVERHEAD: min(num * groups, ALL),
        LOOPS: 0,
    }


def segment_parameters(num: int, groups: int, shared: int, number: int) -> Parameters:
    """Return trace parameters that record segment `number`: `groups` records of `num` instructions.

    The first `shared` records of a segment have the same instructions as the last records of the
    previous segment (seed 001, Fig. 6).
    """
    return {
        MODE: AUTO,
        BEGIN: number * (groups - shared) * num,
        NUM: num,
        STEP: num,
        OVERHEAD: (groups - shared) * num,
        LOOPS: 1,
    }


def add_spill_areas(
    program: Program,
    config: Configuration,
    parameters: Mapping[str, Parameters],
    needs: Mapping[str, int],
) -> dict[str, Parameters]:
    """Return `parameters` with a spill area for each core at the end of external memory.

    `needs` has the number of records by core. A core that is missing there gets `MARK_MODE_BYTES`
    bytes. If another tool linked the program, the stack may be at the end of external memory. Then
    the last `STACK_BYTES` stay free, if there is room. Raises `InputError` if there is no room for
    records after the program's own data.
    """
    end = EXTERNAL + int(config["mem.external_bytes"])
    end_of_program = max(
        (
            item + size
            for item, size in (
                *((section.load_address, section.size) for section in program.sections),
                *((tensor.address, tensor.size) for tensor in program.tensors),
            )
            if EXTERNAL <= item < end
        ),
        default=EXTERNAL,
    )
    sizes = {
        core: needs[core] * RECORD.size if core in needs else MARK_MODE_BYTES for core in parameters
    }
    free = min(end - end_of_program, MOST_BYTES)
    if sum(sizes.values()) > free:
        share = free // max(len(sizes), 1)
        sizes = {core: min(size, share) for core, size in sizes.items()}
    elif not program.note_version and free - sum(sizes.values()) >= STACK_BYTES:
        end -= STACK_BYTES
    with_areas: dict[str, Parameters] = {}
    for core, values in parameters.items():
        size = sizes[core] // RECORD.size * RECORD.size
        if not size and needs.get(core, 1):
            used = f"{end_of_program:#010x}"
            text = f"no room for records: the program uses external memory up to {used}"
            raise InputError(text, f"the device's mem.external_bytes ends at {end:#010x}")
        end -= size
        with_areas[core] = {**values, SPILL: end, SPILL_END: end + size}
    return with_areas
