"""Runs the program of a network and records the cycles and the output of each layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.asm.program import Program, Tensor
from macaw.emu.breaks import Break, Breakable
from macaw.emu.device import Device
from macaw.errors import RunError
from macaw.execution import configuration_of, stop_message
from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True)
class LayerRun:
    """A layer of a network in a run: its cycles, its output, and the counters after it.

    `products` is the number of multiplications of the array in the layer (its `macs`). `counters`
    are the device's counters at the end of the layer, by core and by name.
    """

    number: int  # of the layer, from 0 on
    start: int  # its first cycle
    end: int  # the first cycle after it
    output: NDArray[Any]  # as it is in the device's memory
    products: int
    counters: Mapping[str, Mapping[str, int]]

    @property
    def cycles(self) -> int:
        """The number of cycles from the call of the layer to the call of the next layer."""
        return self.end - self.start


def run_layers(
    program: Program,
    inputs: Mapping[str, NDArray[Any]],
    entries: Sequence[str],
    outputs: Sequence[str],
    end: str,
    *,
    config: Configuration | None,
    engine: str,
    max_cycles: int | None,
) -> Iterator[LayerRun]:
    """Run a program and yield each layer when it has ended.

    `entries` are the symbols of cp's subroutines for the layers, in the order of their calls, and
    `outputs` the symbols of their results. `end` is the symbol of the code after the last call.
    Raises `RunError` if the program stops before `end`, for example after `max_cycles`.
    """
    machine = Device(config or configuration_of(program), engine=engine)
    machine.load(program)
    for name, array in inputs.items():
        machine.write_tensor(name, array)
    # main.s comes first; the sources of layers have views of their own with the same names
    tensors = {item.name: item for item in reversed((*program.tensors, *program.arrays))}
    addresses = {item.name: item.value for item in program.symbols}
    control = machine.cores["cp"]
    assert isinstance(control, Breakable)
    control.set_breaks({addresses[name]: Break() for name in (*entries, end)})
    started = products = 0
    for number in range(len(entries) + 1):
        left = None if max_cycles is None else max(0, max_cycles - machine.cycle)
        stop = machine.run(max_cycles=left)
        if stop.reason != "breakpoint":
            raise RunError(stop_message(stop, None), stop, machine, None)
        if number:
            output, counters = _read(machine, tensors[outputs[number - 1]]), machine.counters()
            total = sum(values.get("macs", 0) for values in counters.values())
            yield LayerRun(number - 1, started, stop.cycle, output, total - products, counters)
            products = total
        started = stop.cycle


def busy_shares(run: LayerRun, before: LayerRun | None = None) -> dict[str, float]:
    """Return by core the share of cycles in which it worked, between the ends of two layers.

    `run` is the later layer, `before` the earlier one; without `before`, the cycles count from the
    start of the program. The cores are cp, dma, vc, and the array (`pe`) as the mean of its rows.
    """
    if before is None:
        return {name: cycles / run.end for name, cycles in _busy(run).items()}
    earlier, cycles = _busy(before), run.end - before.end
    return {name: (count - earlier[name]) / cycles for name, count in _busy(run).items()}


def _busy(run: LayerRun) -> dict[str, float]:
    """Return by core the number of cycles in which it worked, up to the end of a layer."""
    counters = run.counters
    rows = [values["cycles"] for values in counters.values() if "bus_beats" in values]
    vector = counters["vc"]
    active = ("instructions", "cycles_operands", "cycles_memory", "cycles_branches")
    return {
        "pe": sum(rows) / max(1, len(rows)),
        "dma": counters["dma"]["cycles_busy"],
        "vc": sum(vector[name] for name in active),
        "cp": run.end - counters["cp"]["cycles_waiting"],
    }


def _read(machine: Device, tensor: Tensor) -> NDArray[Any]:
    data = machine.memory.peek(tensor.address, tensor.size)
    return np.frombuffer(bytes(data), np.dtype(tensor.dtype)).reshape(tensor.shape).copy()
