"""Runs programs: binds inputs, runs each item of a batch axis, collects outputs and counters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw import api, arguments
from macaw.arguments import check_arguments
from macaw.asm.program import Program
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.emu.inspection import Cautioned
from macaw.emu.waits import NEVER
from macaw.emu.windows import Windowed
from macaw.errors import RunError
from macaw.input_binding import bind, join_inputs
from macaw.isa.lazy_dataclass import dataclass
from macaw.phrases import one_line, plural, shape_text
from macaw.write_detection import WriteDetector

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.faults import Stop
    from macaw.isa.config import Configuration
    from macaw.isa.model import Counter

Counters = dict[str, dict[str, int]]


@dataclass(frozen=True)
class RunCaution:
    """A problem at an instruction that caused no fault, for example overflows in its results.

    `count` is the number of results with this problem, over all items. The phrase `what` describes
    the problem, the phrase `where` the instruction. `place` has the instruction's file, line and
    column; it is None if they are not known.
    """

    core: str
    address: int
    place: tuple[str, int, int] | None
    count: int
    what: str
    where: str

    def __str__(self) -> str:
        return f"{self.core}, {self.where}: {plural(self.count, 'result')} {self.what}"


@dataclass(frozen=True)
class Run:
    """The result of a run.

    `outputs` has the output arrays by name. They have the declared shape; if an input had a batch
    axis, they have one more leading axis, of length `items`. `cycles` and `counters` are sums over
    all items, except that a peak counter is the maximum. `stdout` and `stderr` are the texts of all
    items, one after the other. `exit_code` is the first exit code of an item that is not 0, else 0.
    `unwritten` names the outputs to which certainly no item wrote. `device` is the device of the
    last item in its final state.
    """

    outputs: dict[str, NDArray[Any]]
    cycles: int
    used_counters: Counters  # those of the cores with a counter that is not 0
    exit_code: int
    stdout: str
    stderr: str
    unwritten: tuple[str, ...] = ()  # outputs to which certainly no item wrote
    items: int | None = None  # length of the batch axis; None without one
    cautions: tuple[RunCaution, ...] = ()  # one for each problem of an instruction
    device: Device = field(compare=False, kw_only=True)

    @cached_property
    def counters(self) -> Counters:
        """The counters of all cores, by core, then by name."""
        return {
            core: self.used_counters.get(core, dict.fromkeys(values, 0))
            for core, values in self.device.counters().items()
        }

    def __eq__(self, other: object) -> bool:
        from macaw.array_comparison import equal_results

        return equal_results(self, other) if isinstance(other, Run) else NotImplemented

    def __repr__(self) -> str:
        items = "" if self.items is None else f" of {plural(self.items, 'item')}"
        outputs = ", ".join(
            f"{name} {array.dtype.name} {shape_text(array.shape)}"
            for name, array in self.outputs.items()
        )
        end = f"{plural(self.cycles, 'cycle')}, exit code {self.exit_code}"
        return one_line(f"<run{items}: {end}{'; ' if outputs else ''}{outputs}>")


@dataclass
class Streams:
    """Functions that receive the program's output during the run, piece by piece.

    `Run` has the same output as a whole.
    """

    stdout: Callable[[bytes], object] | None = None
    stderr: Callable[[bytes], object] | None = None


@check_arguments(
    program=arguments.program_or_path,
    inputs=arguments.optional(arguments.mapping(arguments.anything, "arrays by name")),
    device=arguments.optional(arguments.device),
    max_cycles=arguments.optional(arguments.whole(0)),
    engine=arguments.word,
    jitter=arguments.optional(arguments.seed),
    streams=arguments.optional(
        arguments.instance("a Streams of macaw.execution", "macaw.execution:Streams")
    ),
    on_start=arguments.optional(arguments.function),
    keyword_inputs=arguments.anything,
)
def run(
    program: Program | api.FilePath,
    inputs: Mapping[str, object] | None = None,
    *,
    device: api.DeviceLike | None = None,
    max_cycles: int | None = None,
    engine: str = ENGINES[0],
    jitter: int | None = None,
    streams: Streams | None = None,
    on_start: Callable[[int, Device], object] | None = None,
    **keyword_inputs: object,
) -> Run:
    """Run a program, or the program in a file, with arrays for its inputs.

    The inputs are given in a mapping, as keywords, or both. `device` overrides the device of the
    program. `max_cycles` limits the run of each item of the batch axis. `engine` is one of
    `macaw.emu.engines.ENGINES`, which differ only in speed. `jitter` is the seed of random noise in
    the timing of DRAM (item i has the seed `jitter` + i); None means no noise. `streams` receive
    the program's output during the run. Before each item runs, the function calls
    `on_start(index, device)`.

    Raises `InputError` for inputs that do not fit, `RunError` if an item does not exit,
    `DeviceError` if the program does not fit the device, and for a file the errors of `load`.
    """
    if not isinstance(program, Program):
        program = api.load(os.fspath(program), device=device)
    inputs = join_inputs(inputs, keyword_inputs)
    max_cycles, jitter = arguments.python_numbers((max_cycles, jitter))
    binding = bind(program, inputs)
    config = configuration_of(program, device)
    outputs_by_item: dict[str, list[NDArray[Any]]] = {tensor.name: [] for tensor in program.outputs}
    counters: Counters = {}
    unwritten = {tensor.name for tensor in program.outputs}
    cautions: dict[tuple[str, int, str, str], RunCaution] = {}
    cycles = exit_code = 0
    streams = streams or Streams()
    output, errors = _OutputCollector(streams.stdout), _OutputCollector(streams.stderr)
    for index in range(1 if binding.items is None else binding.items):
        # Each item gets a new device, so that no state of another item is left.
        machine = Device(config, engine=engine, jitter=None if jitter is None else jitter + index)
        machine.load(program)
        machine.stdout, machine.stderr = output, errors
        for name, array in binding.item(index).items():
            machine.write_tensor(name, array)
        if on_start is not None:
            on_start(index, machine)
        detector = WriteDetector(program, machine)
        item = None if binding.items is None else index
        try:
            stop = machine.run(max_cycles=max_cycles)
        except KeyboardInterrupt:
            raise RunInterrupted(f"interrupted {_moment(machine.cycle, item)}") from None
        if stop.reason != "exit":
            raise RunError(stop_message(stop, item), stop, machine, item)
        for name, arrays in outputs_by_item.items():
            arrays.append(machine.read_tensor(name))
        unwritten &= detector.unwritten()
        cycles += machine.cycle
        exit_code = exit_code or stop.exit_code or 0
        _add_counters(counters, machine)
        _add_cautions(cautions, machine)
    outputs = {
        name: arrays[0] if binding.items is None else np.stack(arrays)
        for name, arrays in outputs_by_item.items()
    }
    return Run(
        outputs,
        cycles,
        # Without cores that the program did not use: the host may have made them in one run only.
        {core: values for core, values in counters.items() if any(values.values())},
        exit_code,
        output.text,
        errors.text,
        tuple(name for name in outputs_by_item if name in unwritten),
        binding.items,
        tuple(cautions.values()),
        device=machine,
    )


def configuration_of(program: Program, device: api.DeviceLike | None = None) -> Configuration:
    """Return the configuration of the device on which to run `program`.

    That is `device`. If `device` is None, it is the program's own device, or else the preset
    `base`.
    """
    from macaw.isa import config

    if device is not None:
        return api.configuration(device)
    if program.config_toml:
        return config.parse(program.config_toml, program.device)
    return api.configuration(program.device or api.DEFAULT_DEVICE)


def final_registers(device: Device, changed: bool = False) -> dict[str, dict[str, int]]:
    """Return the registers of each core after a run, by core and by name.

    A vector register is one number with lane 0 in its lowest bits. If `changed`, cores whose
    registers all have their reset values are left out.
    """
    registers_by_core: dict[str, dict[str, int]] = {}
    for name, core in device.cores.items():
        core.sync()
        if changed and not _has_changed(core):
            continue
        for file in core.table.files:
            values = np.asarray(getattr(core.state, file.name, 0))
            names = [aliases[0] for aliases in file.names]
            registers: dict[str, int] = {}
            if values.shape == (len(names),):
                registers = dict(zip(names, map(int, values), strict=True))
            elif values.shape == (len(names), file.width // 8):
                numbers = (int.from_bytes(value.tobytes(), "little") for value in values)
                registers = dict(zip(names, numbers, strict=True))
            if registers:
                registers_by_core.setdefault(name, {}).update(registers)
    return registers_by_core


def _has_changed(core: Core) -> bool:
    """Return whether a register of a core differs from its reset value."""
    files = {file.name for file in core.table.files}
    return any(
        np.any(getattr(core.state, row.name) != (0 if row.initial is None else row.initial))
        for row in core.state.fields
        if row.name in files
    )


class RunInterrupted(KeyboardInterrupt):
    """The user pressed Ctrl-C while a program ran; the text of this exception has the cycle."""


def _moment(cycle: int, item: int | None) -> str:
    return f"at cycle {cycle:,}" + ("" if item is None else f" of item {item}")


def stop_message(stop: Stop, item: int | None) -> str:
    """Return a sentence that says why a program stopped without exiting.

    `item` is the index on the batch axis, with which the sentence begins; None without a batch.
    """
    text = str(stop)
    return text if item is None else f"item {item}: {text}"


class _OutputCollector:
    """Collects a program's output, and passes each piece on to the function of the caller."""

    def __init__(self, onward: Callable[[bytes], object] | None) -> None:
        self._onward, self._pieces = onward, bytearray()

    def __call__(self, data: bytes) -> None:
        self._pieces += data
        if self._onward is not None:
            self._onward(data)

    @property
    def text(self) -> str:
        return self._pieces.decode("utf-8", errors="replace")


def combine_counters(row: Counter | None, values: Iterable[int]) -> int:
    """Return one number for the values of a counter in several runs or cores.

    It is the sum, or the maximum if `row` declares the counter as a peak.
    """
    return max(values, default=0) if row is not None and row.peak else sum(values)


def _add_counters(total: Counters, device: Device) -> None:
    """Add to `total` the counters of those cores of a device that the run has used."""
    found = device.counters(device.present)
    for core in device.present:
        rows = {row.name: row for row in core.table.counters}
        sums = total.setdefault(core.name, {})
        for name, value in found[core.name].items():
            sums[name] = combine_counters(rows.get(name), (sums.get(name, 0), value))


def _add_cautions(total: dict[tuple[str, int, str, str], RunCaution], device: Device) -> None:
    """Add to `total` the problems that a device has recorded in its run.

    If `total` already has the same problem of the same instruction, their counts are added up.
    """
    for core in device.present:
        for address, what, count, where in core.cautions() if isinstance(core, Cautioned) else ():
            key = core.name, address, what, where
            if key in total:
                count += total[key].count
            place = device.place(address, core)
            total[key] = RunCaution(core.name, address, place, count, what, where)


def unread_window_bytes(device: Device) -> list[tuple[str, str, int]]:
    """Return (core, window, number of bytes) for each output window that still contains bytes.

    An output window is a range of addresses at which a core gives a stream of bytes, such as an
    output queue. The bytes in it are those that no core has read when the run has ended.
    """
    windows = []
    for core in device.present:
        if not isinstance(core, Windowed):
            continue
        for window in core.table.windows:
            if window.direction == "out":
                count, _ = core.window_room(window.name, NEVER, 1)
                if count:
                    windows.append((core.name, window.name, count))
    return windows
