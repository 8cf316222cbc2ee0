"""Floors: the least that NumPy or the interpreter takes, in the units of the goals they limit.

Each floor does the part of the work that cannot be left out: it counts no cycles and reports no
errors. Only the requests of transfers, and parts of the runs of sparse products, are those of
Macaw itself, with cycles. A goal that a floor does not reach cannot be reached either.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from operator import matmul
from pathlib import Path
from types import FunctionType
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import DTypeLike, NDArray

import macaw
from benchmarks import dma, fim, nnp, sparse
from benchmarks.figures import HIGHER, LOWER, Effort, Figure, Skipped, ratio
from benchmarks.measure import ROUNDS, timed
from benchmarks.scalar import PASSES, unicorn_rate
from macaw.emu.device import Device
from macaw.emu.pe.fast.comparator_tables import OUTCOMES, tables
from macaw.emu.pe.fast.lockstep_detect import lockstep_group
from macaw.emu.pe.fast.lockstep_group import LockstepGroup
from macaw.emu.pe.row import Row

COLUMN = "floor"
NUMPY = "NumPy float32"
REQUESTS = "requests of transfers without bytes"
CALLS = 20_000
DEPTHS = 8, 2  # of the load queues
AT_ONCE = 16  # rows of activations that are computed together: the arrays fit into the caches


def _reverse(memory: bytearray, passes: int) -> int:
    """Do what the loop of benchmarks.scalar does to `memory`, `passes` times; return its sum."""
    total = 0
    for _ in range(passes):
        low, high = 0, 255
        while low < high:
            one = memory[low]
            other = memory[high]
            total = (total + one) & 0xFFFF_FFFF
            total = (total + other) & 0xFFFF_FFFF
            memory[low] = other
            memory[high] = one ^ 0x55
            low += 1
            high -= 1
    return total


def _cp(effort: Effort) -> Iterator[Figure | Skipped]:
    """Yield the rate of benchmarks.scalar's loop in plain Python, divided by Unicorn's."""
    rounds = effort.rounds(ROUNDS)
    peer = unicorn_rate(rounds)
    if peer is None:
        yield Skipped("the loop of cp in plain Python", "unicorn is not installed")
        return
    passes = 4 if effort.small else PASSES
    instructions = passes * 10 * 128
    memory = bytearray(256)
    ours = [instructions / timed(lambda: _reverse(memory, passes)) for _ in range(rounds)]
    yield ratio("the loop of cp in plain Python", COLUMN, ours, peer, HIGHER, "Unicorn")


def _requests(effort: Effort) -> Iterator[Figure]:
    """Yield the rate of transfers of no bytes, divided by that of contiguous transfers.

    A transfer of no bytes consists of cp's request, the start and the end.
    """
    times: dict[int, list[float]] = {0: [], 1: []}  # by whether bytes are moved
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "bench.s"
        what = dma.COMPARED[0]
        copies = 1 if effort.small else dma.copies_of(what)
        empty = dma.source_of(what, copies, is_empty=True)
        for moves, text in enumerate((empty, dma.source_of(dma.CONTIGUOUS))):
            path.write_text(text, "utf-8")
            program = macaw.assemble(path)
            for _ in range(effort.rounds(ROUNDS)):
                device = Device(macaw.configuration("base"))
                device.load(program)
                times[moves].append(timed(device.run))
    yield ratio(REQUESTS, COLUMN, times[1], times[0], HIGHER, dma.CONTIGUOUS)


def _calls(effort: Effort) -> Iterator[Figure]:
    """Yield the rate of NumPy calls on sixteen lanes; a pmac needs at least one call."""
    rounds, calls = effort.rounds(ROUNDS), 10 if effort.small else CALLS
    one, other, out = np.ones(16, np.uint32), np.ones(16, np.uint32), np.empty(16, np.uint32)

    def multiply() -> None:
        product = np.multiply
        for _ in range(calls):
            product(one, other, out)

    rates = tuple(16 * calls / timed(multiply) / 1000 for _ in range(rounds))
    yield Figure("one NumPy call for each pmac", COLUMN, rates, HIGHER)


def _layers(effort: Effort) -> Iterator[Figure]:
    """Yield the times of the arithmetic of layers on nnp, and of an island's rounded products.

    The arithmetic counts no cycles.
    """
    rounds = effort.rounds(ROUNDS)
    random = np.random.default_rng(1)
    positions, channels = (16, nnp.NATIVE) if effort.small else (nnp.POSITIONS, nnp.CHANNELS)
    weights = random.standard_normal((channels, channels), np.float32)
    image = random.standard_normal((positions, channels), np.float32)
    halves = image.astype(np.float16)

    def plain() -> object:
        return np.maximum(image @ weights.T, 0)

    def converted(dtype: DTypeLike) -> Callable[[], object]:
        typed: NDArray[Any] = weights.astype(dtype)
        return lambda: np.maximum(halves.astype(dtype) @ typed.T, 0).astype(np.float16)

    theirs = nnp.seconds(plain, rounds)
    for row, dtype in (
        ("convolution with fp16 in and out", np.float32),
        ("convolution in float64 with fp16 in and out", np.float64),
    ):
        yield ratio(row, COLUMN, nnp.seconds(converted(dtype), rounds), theirs, LOWER, NUMPY)
    hidden = nnp.NATIVE if effort.small else nnp.HIDDEN
    weights = random.standard_normal((8, hidden, hidden), np.float32) * np.float32(hidden**-0.5)
    vectors = random.standard_normal((7, hidden), np.float32)
    factors, x = weights.astype(np.float64), vectors[0].astype(np.float64)
    ours = nnp.seconds(lambda: [part @ x for part in factors], rounds)
    theirs = nnp.seconds(lambda: nnp.lstm_plain(weights, vectors, 1), rounds)
    yield ratio("products of the LSTM step in float64", COLUMN, ours, theirs, LOWER, NUMPY)
    rows, columns = (16, 64) if effort.small else (fim.ROWS, fim.COLUMNS)
    matrix = random.standard_normal((rows, columns)).astype(np.float16)
    vector = random.standard_normal(columns).astype(np.float16)
    wide, factor = matrix.astype(np.float32), vector.astype(np.float32)
    ours = nnp.seconds(lambda: (wide * factor).astype(np.float16).astype(np.float32), rounds)
    theirs = nnp.seconds(lambda: matrix @ vector, rounds)
    row = "each product of the island rounded to fp16"
    yield ratio(row, COLUMN, ours, theirs, LOWER, "NumPy fp16")


def _macs(weights: NDArray[np.int8], x: NDArray[np.int8]) -> Callable[[], object]:
    """Return a function that computes the sums and cycles of all macs of a sparse product.

    The product is that of `weights` and `x`. The comparator of each PE looks at the nonzero weights
    of an output, two in a cycle.
    """
    table = tables(*DEPTHS)
    block = 2 * table.pairs
    counts = np.count_nonzero(weights, axis=1)
    width = -(-int(counts.max()) // block) * block
    index, values = np.zeros((width, len(weights)), np.intp), np.zeros((width, len(weights)), int)
    for number, row in enumerate(weights):
        at = np.flatnonzero(row)
        index[: at.size, number], values[: at.size, number] = at, row[at]

    def compute() -> list[tuple[object, object]]:
        found = []
        for rows in np.split(x, max(len(x) // AT_ONCE, 1)):
            activations = rows.T[index]  # (entries, outputs, rows)
            hit = (activations != 0).view(np.uint8)
            sums = np.einsum("wr,wri->ri", values, activations)
            keys = (hit[0::2] + hit[1::2]).reshape(-1, table.pairs, *hit.shape[1:])
            number = keys[:, 0].astype(np.intp)
            for pair in range(1, table.pairs):
                number = number * OUTCOMES + keys[:, pair]
            number *= table.states
            state = np.zeros(number.shape[1:], np.intp)
            for key in number:
                key += state
                state = table.following.take(key)
            found.append((sums, table.length.take(number).sum(axis=0)))
        return found

    return compute


class _Stopwatch:
    """The CPU seconds of calls of some functions; a call within another one counts only once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._runs = False

    def timing(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that does what `call` does, and whose calls are timed."""

        def timed_call(*args: Any, **options: Any) -> Any:
            if self._runs:
                return call(*args, **options)
            self._runs, start = True, time.process_time()
            try:
                return call(*args, **options)
            finally:
                self.seconds += time.process_time() - start
                self._runs = False

        return timed_call

    def patch_methods(self, stack: ExitStack, kind: type) -> None:
        """Time the methods that the class `kind` defines, until `stack` is closed."""
        for name, value in vars(kind).items():
            if isinstance(value, FunctionType):
                stack.enter_context(patch.object(kind, name, self.timing(value)))


def _seconds_in_rows(stack: ExitStack) -> _Stopwatch:
    """Return the stopwatch of the simulation of rows: control units, buses, macs and counters."""
    watch = _Stopwatch()
    stack.enter_context(patch.object(Row, "advance", watch.timing(Row.advance)))
    return watch


def _seconds_in_groups(stack: ExitStack) -> _Stopwatch:
    """Return the stopwatch of lockstep groups: whether one can form, its times and its sums."""
    watch = _Stopwatch()
    detect = watch.timing(lockstep_group)
    stack.enter_context(patch("macaw.emu.pe.fast.controls.lockstep_group", detect))
    watch.patch_methods(stack, LockstepGroup)
    return watch


# By what is not left out of a run of a sparse product: the stopwatch of all other work.
SPARSE = {
    "macs, cp and dma of the sparse product": _seconds_in_rows,
    "the sparse product outside lockstep groups": _seconds_in_groups,
}


def _sparse(effort: Effort) -> Iterator[Figure | Skipped]:
    """Yield, for each item of `SPARSE`, the time of the macs and of a run without the other work.

    The other work is timed in a run of its own, because the stopwatch takes time too. What it takes
    within timed calls makes the floor smaller than it is.
    """
    try:
        from scipy.sparse import csr_array
    except ImportError:
        yield Skipped("parts of the sparse product", "scipy is not installed")
        return
    name, size = ("tiny", 16) if effort.small else ("large", sparse.SIZE)
    for zero in sparse.ZERO[:1] if effort.small else sparse.ZERO:
        weights, x = sparse.values(1, zero, size), sparse.values(2, zero, size)
        lowered = macaw.lower("spmm", weights, rows=size, device=name)
        program = lowered.assemble()
        left, right = csr_array(x.astype(np.int32)), csr_array(weights.T.astype(np.int32))
        compute, product = _macs(weights, x), partial(matmul, left, right)
        ours: dict[str, list[float]] = {what: [] for what in SPARSE}
        theirs = []
        for _ in range(effort.rounds(ROUNDS)):
            macs = timed(compute)
            whole, _ = sparse.simulated(program, lowered.config, x)
            for what, stopwatch in SPARSE.items():
                with ExitStack() as stack:
                    watch = stopwatch(stack)
                    sparse.simulated(program, lowered.config, x)
                ours[what].append(macs + whole - watch.seconds)
            theirs.append(timed(product))
        for what, seconds in ours.items():
            yield ratio(f"{what}, {zero:.0%} zero", COLUMN, seconds, theirs, LOWER, "SciPy")


def measure(effort: Effort) -> Iterator[Figure | Skipped]:
    """Yield the floors."""
    yield from _cp(effort)
    yield from _calls(effort)
    yield from _requests(effort)
    yield from _layers(effort)
    yield from _sparse(effort)
