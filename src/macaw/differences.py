"""Generated files run, and where one first leaves the emulator.

The operations of a file are its functions of the instructions' names: what they give is recorded
in the order in which they are called, and compared with what the emulator's chains write.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.core import Event
from macaw.errors import InputError, RunError
from macaw.lowering.concord.chains import Chain, Place, writes
from macaw.lowering.concord.graph import SHARED
from macaw.lowering.concord.layer import LOOPING, executed

if TYPE_CHECKING:
    from macaw.concordance import Concordance

Arrays = Mapping[str, NDArray[Any]]
# What a target's file needs to run.
PACKAGES = {"numpy": "numpy", "torch": "torch", "tensorflow": "tensorflow", "onnx": "onnxruntime"}


@dataclass(frozen=True)
class Deviation:
    """The first chain that gives something else, and the last instruction of its work.

    `element` is one of the chain's elements in its iteration.
    """

    place: Place
    iteration: int
    element: int
    emulator: float
    software: float

    def __str__(self) -> str:
        turn = f" of iteration {self.iteration}" if self.iteration else ""
        return (
            f"{self.place}: element {self.element}{turn} is {self.emulator!r} in the emulator,"
            f" {self.software!r} in the software"
        )


def same(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Where two arrays of floating-point numbers have the same bits, or are both NaN."""
    unsigned = np.dtype(f"u{one.itemsize}")
    bits = np.ascontiguousarray(one).view(unsigned) == np.ascontiguousarray(other).view(unsigned)
    return np.asarray(bits | (np.isnan(one) & np.isnan(other)))


def run_software(
    text: str,
    target: str,
    data: Arrays,
    names: Collection[str] = (),
    watched: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None,
) -> dict[str, NDArray[Any]]:
    """Run a generated file on tensors; its functions `names` as `watched` makes them.

    Raises `InputError`, also for what the file raises.
    """
    missing = [name for name in _packages(target) if find_spec(name) is None]
    if missing:
        raise InputError(
            f"{target} cannot be run here: there is no package {missing[0]}",
            f"pip install {' '.join(missing)}",
        )
    space: dict[str, Any] = {"__name__": "macaw_layer"}
    try:
        exec(compile(text, "the generated file", "exec"), space)
        for name in names:
            if watched is not None and name in space:
                space[name] = watched(space[name])
        if target == "onnx":
            return _run_onnx(space["model"](), data)
        with np.errstate(all="ignore"):
            found = space["layer"](**{name: _given(target, array) for name, array in data.items()})
        return {name: np.asarray(value) for name, value in found.items()}
    except Exception as error:
        raise InputError(f"the generated file fails: {type(error).__name__}: {error}") from error


def _packages(target: str) -> list[str]:
    return ["onnx", "onnxruntime"] if target == "onnx" else [PACKAGES[target]]


def _given(target: str, array: NDArray[Any]) -> Any:
    if target != "torch":
        return array
    import torch

    return torch.from_numpy(np.array(array))


def _run_onnx(model: Any, data: Arrays) -> dict[str, NDArray[Any]]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # no remarks on what its optimiser leaves as it is
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [item.name for item in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(data)), strict=True))


def origin(found: Concordance, text: str, data: Arrays) -> Deviation | None:
    """The first chain whose result is not the emulator's; None: nobody can say.

    Of ONNX nobody can: its operations are done inside of the model.
    """
    if found.target == "onnx":
        return None
    expected = _recorded(found, text, data)
    if expected is None:
        return None
    watcher = _Watcher(found, expected)
    try:
        found.emulate(data, watcher)
    except RunError:
        return None
    return watcher.deviation


def _recorded(
    found: Concordance, text: str, data: Arrays
) -> dict[int, tuple[Place, NDArray[Any]]] | None:
    """By chain, what its last operation gave in the software; None: the file has another form."""
    calls = [
        (node, chain)
        for node, chain in executed(found.software.layer)
        if node.place is not None and node.operation not in (*SHARED, *LOOPING)
    ]
    results: list[NDArray[Any]] = []

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            result = function(*arguments)
            results.append(np.asarray(result))
            return result

        return call

    names = {node.operation for node, _ in calls}
    run_software(text, found.target, found.checked(data), names, watched)
    if len(results) != len(calls):
        return None
    return {
        chain: (node.place, result)
        for (node, chain), result in zip(calls, results, strict=True)
        if node.place is not None
    }


class _Watcher:
    """A listener of the core: holds what each chain wrote against what was recorded."""

    def __init__(
        self, found: Concordance, expected: Mapping[int, tuple[Place, NDArray[Any]]]
    ) -> None:
        self.found, self.expected = found, expected
        self.at = -1
        self.deviation: Deviation | None = None
        self.lost = False

    def __call__(self, event: Event) -> None:
        if event.kind != "chain" or self.deviation is not None or self.lost:
            return
        iteration = int(event.values["iteration"])
        self.at += iteration == 0
        chains = self.found.chains
        if self.at >= len(chains) or chains[self.at].places[0].address != event.values["address"]:
            self.lost = True  # the program's runs are others than those that were followed
            return
        if self.at not in self.expected:
            return
        place, values = self.expected[self.at]
        wanted = values[iteration if len(values) > 1 else 0].astype(self.found.dtype)
        written = self._written(event, chains[self.at], iteration, wanted.size)
        if written is None or len(written) != len(wanted):
            return
        wrong = np.flatnonzero(~same(written, wanted))
        if len(wrong):
            at = int(wrong[0])
            self.deviation = Deviation(place, iteration, at, written[at].item(), wanted[at].item())

    def _written(
        self, event: Event, chain: Chain, iteration: int, size: int
    ) -> NDArray[Any] | None:
        """What an iteration wrote, from a memory that holds it as it is."""
        core, dtype = event.core, self.found.dtype
        native = self.found.native
        for access in writes(chain):
            memory, count = access.memory, size // native
            if memory.queue:
                pushed = [data for _, data in [*core.state.net_out, *core.state.unsent][-count:]]
                return np.frombuffer(b"".join(pushed), dtype)
            begin = access.begin(iteration, None)
            if not memory.setting:
                start = core.state.base + begin * native * dtype.itemsize
                data = core.device.memory.peek(start, size * dtype.itemsize)
                return np.frombuffer(data, dtype)
            file = getattr(core.state, memory.setting.partition(".")[2], None)
            if file is not None:
                return np.asarray(file[begin : begin + count]).ravel()
        return None
