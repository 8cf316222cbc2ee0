"""Random modes on random arrays agree with NumPy and between engines, for all element types.

Operands are small whole numbers, so sums are exact in each element type, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from macaw.isa.pe import ACTIVATIONS, FORMS, THEN
from tests.emu.pe_builder import NAMES, SUMS, Machine, Unit
from tests.emu.pe_engine_pairs import machines_of_engines, run_and_compare, stop_summary
from tests.emu.pe_random_lists import content_hashes

pytestmark = pytest.mark.once

EXAMPLES = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PAUSES = st.lists(st.integers(1, 120), min_size=0, max_size=5)
RQ, SW = 1, 2
PER_PE = 512  # bytes for the results of a PE


@dataclass(frozen=True)
class Mode:
    """A convolution of one plane, or of a plane for each PE, on some array."""

    config: dict[str, Any]
    element: str
    plane: tuple[int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    function: str  # of the special-function unit; or nonsf
    decoupled: bool
    balance: bool
    stores: str  # in the loop, by another buffer, streamed
    form: str
    mode: str  # who gets which plane, or kernel
    seed: int

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    @property
    def pes(self) -> int:
        return int(self.config["pe.clusters"] * self.config["pe.pes"])

    @property
    def outputs(self) -> tuple[int, int]:
        rows, columns = (
            (size - kernel) // stride + 1
            for size, kernel, stride in zip(self.plane, self.kernel, self.stride, strict=True)
        )
        return rows, columns

    def slices(self, shape: tuple[int, ...]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return random numbers: a row for each slice that is sent; and for each PE, its slice."""
        clusters, pes = self.config["pe.clusters"], self.config["pe.pes"]
        owners = {
            "broadcast": np.zeros((clusters, pes), int),
            "sliced": np.arange(self.pes).reshape(clusters, pes),
            "by_cluster": np.repeat(np.arange(clusters)[:, None], pes, axis=1),
            "by_pe": np.repeat(np.arange(pes)[None], clusters, axis=0),
        }[self.mode]
        rng = self.rng
        made = rng.integers(-4, 5, (int(owners.max()) + 1, *shape))
        made[rng.random(made.shape) < rng.random()] = 0
        return made, made[owners.reshape(-1)]

    def unit(self) -> Unit:
        return Unit(self.config | {"pe.element": self.element}, data_at=0x1000)


@st.composite
def modes(draw: st.DrawFn, *, window: bool) -> Mode:
    design = draw(st.sampled_from(["5a", "5b", "5b"]))
    config = {
        "pe.clusters": draw(st.integers(1, 4)),
        "pe.pes": draw(st.integers(1, 6)),
        "pe.design": design,
        "pe.overflow": draw(st.sampled_from(["fault", "wrap", "saturate"])),
        "pe.load_queue_1": draw(st.integers(2, 9)),
        "pe.load_queue_2": draw(st.integers(1, 3)),
        "pe.balance_threshold": draw(st.integers(1, 3)),
        "pe.divider": draw(st.sampled_from([1, 1, 2])),
        "dist.bus_bytes": draw(st.sampled_from([3, 32, 64])),
        "sfu.rate": draw(st.integers(1, 5)),
        "sfu.latency": draw(st.integers(1, 4)),
    }
    plane = draw(st.integers(3, 7)), draw(st.integers(3, 7))
    return Mode(
        config,
        element=draw(st.sampled_from(sorted(NAMES))),
        plane=plane,
        kernel=(draw(st.integers(1, 3)), draw(st.integers(1, 3))),
        stride=(draw(st.integers(1, 2)), draw(st.integers(1, 2))),
        function=draw(st.sampled_from(["nonsf", "none", "relu", "requantise"])),
        decoupled=draw(st.booleans()),
        balance=design == "5b" and draw(st.booleans()),
        stores=draw(st.sampled_from(["loop", "then", "stream"])),
        form="dense" if window else draw(st.sampled_from(FORMS)),
        mode=draw(st.sampled_from(["broadcast", "sliced", "by_cluster", "by_pe"])),
        seed=draw(st.integers(0, 2**32 - 1)),
    )


def results(mode: Mode) -> tuple[list[str], dict[str, int]]:
    """Return the instructions from `mac` on, and the fields of their header.

    They put one result into block 0 in each iteration.
    """
    words = " balance" if mode.balance else ""
    if mode.function == "nonsf":
        return [f"mac base=0 acc=2{words}", "spu nonsf src=2 dst=0"], {}
    header = {"shift": 1}
    name = "requantise"
    if mode.function != name:
        name, header = "activation", {"activation": ACTIVATIONS.index(mode.function)}
    if mode.decoupled and mode.stores == "then":  # all of them in the other buffer
        found = [f"mac base=0 acc=2{words}", "spu nonsf src=2 dst=0"]
    elif mode.decoupled:
        found = [f"mac base=0 acc=2{words}", "spu nonsf src=2 dst=4", f"spu {name} src=4 dst=0"]
    else:
        found = [f"mac base=0 acc=2{words} sfu", f"spu {name} src=9 dst=0"]
    return found, header


def finished(mode: Mode, sums: NDArray[Any]) -> NDArray[Any]:
    """The results that the special-function unit gives for whole sums."""
    if mode.function == "relu":
        return np.maximum(sums, 0)
    if mode.function == "requantise":
        halves = sums / 2 if mode.element.startswith("fp") else np.rint(sums / 2)
        if not mode.element.startswith("fp"):
            ends = np.iinfo(NAMES[mode.element])
            halves = np.clip(halves, ends.min, ends.max)
        return halves
    return sums


def written(mode: Mode, unit: Unit, lines: list[str], **header: Any) -> dict[str, int]:
    """Add configs of buffers 4 and 5, which loop over all outputs; return the out record."""
    made, numbers = results(mode)
    more: dict[str, Any] = dict(numbers)
    rows, columns = mode.outputs
    steps = header.pop("steps", [])
    last = len(lines) + len(made) - 1
    lines = [*lines, *made]
    count = 1
    if mode.stores == "loop":
        lines.append("st base=0")
    elif mode.stores == "then":
        steps = [*steps, (last, 1, 1, 0)]  # dst: a place further with each output
        header |= {"then": THEN + 5, "pipeline": 4}
        count = rows * columns
        other = ["st base=0"]
        if mode.decoupled and more:
            function = "requantise" if "shift" in more else "activation"
            other = [f"spu {function} src=0 dst=8", "st base=8"]
        unit.config_packet(5, *other, **more)
    if steps:
        header["pipeline"] = 4
    unit.config_packet(4, *lines, steps=steps, inner=columns, outer=rows, **header, **more)
    kind = SUMS[mode.element].replace("float", "fp")
    return unit.out(mode.pes * PER_PE, kind, count=count, stride=PER_PE)


def compare(
    mode: Mode, unit: Unit, out: dict[str, int], sums: NDArray[Any], pauses: list[int]
) -> Machine:
    """Run both engines with pauses and compare them; results (PEs, rows, columns) are NumPy's."""
    fast, reference = run_and_compare(unit, pauses)
    for machine in (fast, reference):
        assert not machine.row.running
        raw = machine.read(out, mode.pes * PER_PE // out["step"]).reshape(mode.pes, -1)
        rows, columns = mode.outputs
        got = raw[:, : rows * columns].reshape(mode.pes, rows, columns)
        np.testing.assert_array_equal(got, finished(mode, sums))
    return fast


def flags(mode: Mode) -> dict[str, int]:
    return {"last": 1, "shift": int(mode.stores == "stream")}


@EXAMPLES
@given(modes(window=False), PAUSES)
def test_rotating_kernels(mode: Mode, pauses: list[int]) -> None:
    """Results are NumPy's if each PE rotates its kernel over a shared plane (seed 000 ¶122)."""
    width, (down, right) = mode.plane[1], mode.stride
    sent, kernels = mode.slices(mode.kernel)
    rng = np.random.default_rng(mode.seed + 1)
    plane = rng.integers(-4, 5, mode.plane) * (rng.random(mode.plane) < rng.random())
    rows, columns = mode.outputs
    unit = mode.unit()
    matrix: NDArray[Any] = np.zeros((len(sent), mode.kernel[0], width), int)
    matrix[:, :, : mode.kernel[1]] = sent
    # Nothing after the last weight: dense zeros there would reach past the plane.
    matrix = matrix.reshape(len(sent), -1)[:, : (mode.kernel[0] - 1) * width + mode.kernel[1]]
    step = (2, 0, right, down * width - columns * right)
    out = written(mode, unit, ["ld weights", "ld activations base=0"], state=RQ, steps=[step])
    weights = {"records": unit.weights, "compress": unit.compressed, "dense": unit.numbered}[
        mode.form
    ]
    unit.exe(4, weights(matrix, mode.mode), unit.dense(plane.reshape(-1)), out=out, **flags(mode))
    sums = np.zeros((mode.pes, rows, columns), int)
    for y, x in np.ndindex(*mode.kernel):
        part = plane[y::down, x::right][:rows, :columns]
        sums += kernels[:, y, x, None, None] * part
    machine = compare(mode, unit, out, sums, pauses)
    examined = machine.row.counters()["weights_examined"]
    entries = np.count_nonzero(kernels)  # zeros never come, unless the weights are dense
    if mode.form == "dense":
        entries = mode.pes * matrix.shape[1]
    assert examined == entries * rows * columns


@EXAMPLES
@given(modes(window=True), PAUSES)
def test_sliding_windows(mode: Mode, pauses: list[int]) -> None:
    """Results are NumPy's if PEs have planes in strips and share a kernel (seed 000 ¶123)."""
    sent, planes = mode.slices(mode.plane)
    rng = np.random.default_rng(mode.seed + 1)
    kernel = rng.integers(-4, 5, mode.kernel) * (rng.random(mode.kernel) < 0.7)
    high, wide = mode.kernel
    rows, columns = mode.outputs
    down, right = mode.stride
    used = (columns - 1) * right + wide
    strips = [
        sent[:, y * down : y * down + high, :used].transpose(0, 2, 1).reshape(len(sent), -1)
        for y in range(rows)
    ]
    unit = mode.unit()
    header = {"state": SW, "window": high * wide, "pop": high * right}
    out = written(mode, unit, ["ld weights", "ld activations base=0"], **header)
    window = ("weights", mode.mode, unit.dense(np.concatenate(strips, axis=1))[2])
    unit.exe(4, window, unit.dense(kernel.T.reshape(-1)), out=out, **flags(mode))
    sums = np.zeros((mode.pes, rows, columns), int)
    for y, x in np.ndindex(*mode.kernel):
        sums += kernel[y, x] * planes[:, y::down, x::right][:, :rows, :columns]
    machine = compare(mode, unit, out, sums, pauses)
    products = int((kernel != 0).sum()) * rows * columns * mode.pes
    assert machine.row.counters()["macs"] == products


@EXAMPLES
@given(
    st.sampled_from(["int8", "int16"]),
    st.sampled_from(["fault", "wrap", "saturate"]),
    st.integers(2, 6),
    st.integers(0, 2**32 - 1),
)
def test_sums_near_the_end_of_their_range(element: str, overflow: str, pes: int, seed: int) -> None:
    """Balanced sums near the end of their range saturate, wrap or fault as configured.

    All products have the same sign, so the order does not matter.
    """
    rng = np.random.default_rng(seed)
    unit = Unit({"pe.element": element, "pe.overflow": overflow, "pe.pes": pes, "pe.clusters": 1})
    unit.config_packet(
        0, "ld psums base=0", "ld both base=0", "mac base=0 acc=0 balance", "st base=0"
    )
    ends = np.iinfo(SUMS[element])
    x = rng.integers(1, 9, 40)
    weights = rng.integers(1, 9, (pes, 40)) * (rng.random((pes, 40)) < rng.random((pes, 1)))
    begin = [int(ends.max) - int(rng.integers(0, 1600)) for _ in range(pes)]
    out = unit.out(8 * pes, SUMS[element], stride=8)
    data = unit.psums(begin), unit.weights(weights), unit.dense(x)
    unit.exe(0, *data, out=out, last=1)
    exact = [first + int(more) for first, more in zip(begin, weights @ x, strict=True)]
    fast, reference = machines_of_engines(unit)
    stops = [machine.device.run() for machine in (fast, reference)]
    assert stop_summary(stops[0]) == stop_summary(stops[1])
    assert content_hashes(fast.device) == content_hashes(reference.device)
    if overflow == "fault" and max(exact) > ends.max:
        assert stops[0].fault is not None
        assert stops[0].fault.kind == "accumulator overflow"
        return
    assert stops[0].fault is None
    bits = 8 * np.dtype(SUMS[element]).itemsize
    wanted = [min(value, int(ends.max)) for value in exact]
    if overflow == "wrap":
        wanted = [(value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1) for value in exact]
    got = fast.read(out, 8 * pes // out["step"])[:: 8 // out["step"]]
    assert got.tolist() == wanted


@pytest.mark.few(7)
@pytest.mark.parametrize("element", sorted(NAMES))
@pytest.mark.parametrize("reduction", ["add", "max", "scalar_add", "scalar_max"])
def test_reductions_of_every_type_over_a_loop(element: str, reduction: str) -> None:
    """A reduction gives each cluster a result an iteration, or one result (seed 000 ¶97).

    In the second case the scalar unit has accumulated it over the iterations.
    """
    number = ["none", "add", "max", "scalar_add", "scalar_max"].index(reduction)
    rng = np.random.default_rng(number)
    unit = Unit({"pe.element": element, "pe.clusters": 3, "pe.pes": 5})
    weights, x = rng.integers(-4, 5, (15, 9)), rng.integers(-4, 5, (4, 9))
    lines = [
        "ld weights",
        "ld activations base=0",
        "mac base=0 acc=0 sfu",
        "spu reduce src=0 dst=3",
    ]
    if reduction.startswith("scalar"):  # emptied by nonsf, so each iteration begins anew
        lines += ["spu nonsf src=11 dst=3"]
    unit.config_packet(4, *lines, "st base=3", state=RQ, inner=4, reduction=number)
    kind = SUMS[element].replace("float", "fp")
    out = unit.out(3 * 5 * 4 * 8, kind, stride=8 * 4)
    segments = [unit.dense(row) for row in x]
    unit.exe(4, unit.weights(weights), *segments, out=out, last=1)
    fast, _ = run_and_compare(unit, [9, 40, 3])
    products = (weights @ x.T).reshape(3, 5, 4)
    wanted = products.sum(axis=1) if reduction.endswith("add") else products.max(axis=1)
    got = fast.read(out, 3 * 5 * 4 * 8 // out["step"]).reshape(3, 5, -1)[:, 0, :4]
    np.testing.assert_array_equal(got, wanted)
