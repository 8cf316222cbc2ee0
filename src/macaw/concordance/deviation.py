"""Finds the first chain whose result differs between the emulator and the generated file.

A chain is a sequence of instructions from a read to a write, through which vectors pass one after
another. A generated file has one function for each kind of instruction. This module records the
results of these functions in the order of the calls, and compares them with the values that the
emulator writes at the ends of chains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.concordance.emulation import emulate
from macaw.concordance.generated_file import run_generated, same_bits
from macaw.concordance.layer_tensors import Arrays, LayerTensors
from macaw.emu.core import Event
from macaw.errors import RunError
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.concord.chains import Chain, SourceInstruction, writes
from macaw.lowering.concord.graph import SHARED
from macaw.lowering.concord.layer import LOOPING, operations_of


@dataclass(frozen=True)
class Deviation:
    """The first chain whose result differs between the emulator and the software.

    `place` is the chain's last instruction that affects the result. `element` is the index of the
    first different element, counted in the elements that the chain writes in one iteration;
    `emulator` and `software` are its two values.
    """

    place: SourceInstruction  # the chain's last instruction that affects the result
    iteration: int  # of the chain, from 0 on
    element: int
    emulator: float  # the value of the element in the emulator
    software: float  # the value of the element in the software

    def __str__(self) -> str:
        turn = f" of iteration {self.iteration}" if self.iteration else ""
        return (
            f"{self.place}: element {self.element}{turn} is {self.emulator!r} in the emulator,"
            f" {self.software!r} in the software"
        )


def find_deviation(
    layer: LayerTensors, chains: Sequence[Chain], target: str, text: str, data: Arrays
) -> Deviation | None:
    """Return the first chain whose result in the file `text` differs from the emulator's result.

    Emulator and file run on the inputs `data`. `chains` are the chains that the program executes,
    in this order. Returns None if the chain cannot be found: an ONNX model executes its operations
    internally, and `text` may not have the form of a generated file.
    """
    if target == "onnx":
        return None
    expected = _record_results(layer, target, text, data)
    if expected is None:
        return None
    comparator = _ChainComparator(layer, chains, expected)
    try:
        emulate(layer, data, comparator)
    except RunError:
        return None
    return comparator.deviation


def _record_results(
    layer: LayerTensors, target: str, text: str, data: Arrays
) -> dict[int, tuple[SourceInstruction, NDArray[Any]]] | None:
    """Run the file `text` and return the result of each chain, by the chain's number.

    A value of the dictionary is (source instruction, result) of the chain's last operation. Returns
    None if the text does not have the form of a generated file.
    """
    calls = [
        (node, chain)
        for node, chain in operations_of(layer.software.layer)
        if node.place is not None and node.operation not in (*SHARED, *LOOPING)
    ]
    results: list[NDArray[Any]] = []

    def record(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            result = function(*arguments)
            results.append(np.asarray(result))
            return result

        return call

    names = {node.operation for node, _ in calls}
    run_generated(text, target, layer.select(data), names, record)
    if len(results) != len(calls):
        return None
    return {
        chain: (node.place, result)
        for (node, chain), result in zip(calls, results, strict=True)
        if node.place is not None
    }


class _ChainComparator:
    """A listener of the nnp core that compares the results of each chain with recorded results."""

    def __init__(
        self,
        layer: LayerTensors,
        chains: Sequence[Chain],
        expected: Mapping[int, tuple[SourceInstruction, NDArray[Any]]],
    ) -> None:
        self.layer, self.chains, self.expected = layer, chains, expected
        self.index = -1  # index of the chain that the core executes
        self.deviation: Deviation | None = None
        self.is_lost = False

    def __call__(self, event: Event) -> None:
        if event.kind != "chain" or self.deviation is not None or self.is_lost:
            return
        iteration = int(event.values["iteration"])
        self.index += iteration == 0
        chains = self.chains
        if (
            self.index >= len(chains)
            or chains[self.index].places[0].address != event.values["address"]
        ):
            self.is_lost = True  # the program runs other chains than those that were traced
            return
        if self.index not in self.expected:
            return
        place, results = self.expected[self.index]
        software = results[iteration if len(results) > 1 else 0].astype(self.layer.dtype)
        emulator = self._written_values(event, chains[self.index], iteration, software.size)
        if emulator is None or len(emulator) != len(software):
            return
        wrong = np.flatnonzero(~same_bits(emulator, software))
        if len(wrong):
            at = int(wrong[0])
            self.deviation = Deviation(
                place, iteration, at, emulator[at].item(), software[at].item()
            )

    def _written_values(
        self, event: Event, chain: Chain, iteration: int, size: int
    ) -> NDArray[Any] | None:
        """Return the `size` values that an iteration of a chain wrote, read from a memory of nnp.

        Returns None if the chain wrote to no memory that can be read here.
        """
        core, dtype = event.core, self.layer.dtype
        native = self.layer.native
        for access in writes(chain):
            memory, count = access.memory, size // native
            if memory.queue:
                vectors = [data for _, data in [*core.state.net_out, *core.state.unsent][-count:]]
                return np.frombuffer(b"".join(vectors), dtype)
            begin = access.begin(iteration, None)
            if not memory.setting:
                start = core.state.base + begin * native * dtype.itemsize
                data = core.device.memory.peek(start, size * dtype.itemsize)
                return np.frombuffer(data, dtype)
            file = getattr(core.state, memory.setting.partition(".")[2], None)
            if file is not None:
                return np.asarray(file[begin : begin + count]).ravel()
        return None
