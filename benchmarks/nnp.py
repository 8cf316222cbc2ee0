"""Layers on the emulated nnp beside the same layers in plain NumPy float32, in one process.

An LSTM step with 2048 hidden units and a 1×1 convolution, whole programs, emulated with their
cycles: every product exact in block floating point and rounded once, every function correctly
rounded.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np
from numpy.typing import NDArray

import macaw
from benchmarks.measure import ROUNDS, table, target, timed
from macaw.asm.source import Source
from macaw.emu.device import Device
from macaw.isa.config import Configuration

LEAST_SECONDS = 0.1  # CPU time of one measurement: a call is far shorter than the clock's tick
MOST = 5.0  # times plain NumPy, which the project holds itself to
WIDTHS = (16, 8, 5)
NATIVE = 128

HIDDEN, STEPS = 2048, 60
CYCLES = 20_000  # about nine steps
POSITIONS, CHANNELS = 56 * 56, 512

Floats = NDArray[np.float32]

# By gate: input, forget, cell, output. Their biases are in AddSubVrf1; x and h in InitialVrf.
GATES = (
    ("v_sigm", "MulVrf, 0"),
    ("v_sigm", "AddSubVrf0, {4k}"),
    ("v_tanh", "AddSubVrf0, {5k}"),
    ("v_sigm", "MulVrf, {1k}"),
)
GATE = """
        v_rd    InitialVrf, 0
        mv_mul  {input}
        v_wr    AddSubVrf0, {gate}
        v_rd    InitialVrf, {1k}
        mv_mul  {hidden}
        vv_add  AddSubVrf0, {gate}
        vv_add  AddSubVrf1, {gate}
        {function}
        v_wr    {result}
"""
CELL = """
        v_rd    AddSubVrf0, {4k}        # f * c
        vv_mul  {2k}
        v_wr    AddSubVrf0, {6k}
        v_rd    AddSubVrf0, {5k}        # c = i * c~ + f * c
        vv_mul  0
        vv_add  AddSubVrf0, {6k}
        v_wr    MulVrf, {2k}
        v_wr    AddSubVrf1, {4k}
        v_rd    AddSubVrf1, {4k}        # h = o * tanh c
        v_tanh
        vv_mul  {1k}
        v_wr    InitialVrf, {1k}
        v_wr    NetOutQ
"""
STATE = ("InitialVrf, 0", "InitialVrf, {1k}", "AddSubVrf1, 0", "AddSubVrf1, {1k}",
         "AddSubVrf1, {2k}", "AddSubVrf1, {3k}", "MulVrf, {2k}")  # fmt: skip


def seconds(action: Callable[[], object]) -> float:
    """CPU seconds of a call, the median of some measurements of many calls each."""
    action()
    found = []
    for _ in range(ROUNDS):
        calls, start = 0, time.process_time()
        while (spent := time.process_time() - start) < LEAST_SECONDS:
            action()
            calls += 1
        found.append(spent / calls)
    return median(found)


def device(bits: int, tiles: int) -> Configuration:
    """A device with one nnp that holds so many tiles."""
    widths = {"nnp.vector_bits": bits, "nnp.matrix_bits": bits}
    sizes = {"nnp.native": NATIVE, "nnp.lanes": 16, "nnp.engines": 8, "nnp.matrix_rf": tiles}
    return Configuration("bench", {**widths, **sizes, "nnp.instructions": 65536})


def tiled(matrices: Floats) -> NDArray[np.float16]:
    """Square matrices (count, n, n) as native tiles, row by row."""
    count, side, _ = matrices.shape
    blocks = side // NATIVE
    cut = matrices.reshape(count, blocks, NATIVE, blocks, NATIVE).transpose(0, 1, 3, 2, 4)
    return cut.reshape(-1, NATIVE, NATIVE).astype(np.float16)


def lstm_source() -> str:
    """Weights into MatrixRf, then the steps; h of each step goes to NetOutQ."""
    k = HIDDEN // NATIVE
    of_matrix = k * k
    places = {f"{i}k": i * k for i in range(1, 8)}
    lines = [
        f"        .input  w, float16, {8 * of_matrix}, {NATIVE}, {NATIVE}",
        f"        .input  q, float16, {7 * k}, {NATIVE}, at=netin",
        f"        .output h, float16, {STEPS * k}, {NATIVE}, at=netout",
        f"        .core   nnp\n        SetRows({k})\n        SetCols({k})",
    ]
    for matrix in range(8):
        at = matrix * of_matrix
        lines.append(f"        m_rd    Dram, {at}\n        m_wr    MatrixRf, {at}")
    lines += [f"        v_rd    NetInQ\n        v_wr    {to.format(**places)}" for to in STATE]
    lines.append(f"        .rept   {STEPS}")
    for gate, (function, result) in enumerate(GATES):
        lines.append(
            GATE.format(
                input=2 * gate * of_matrix,
                hidden=(2 * gate + 1) * of_matrix,
                gate=gate * k,
                function=function,
                result=result.format(**places),
                **places,
            )
        )
    return "\n".join([*lines, CELL.format(**places), "        .endr\n        end_chain\n"])


def lstm_plain(weights: Floats, vectors: Floats, steps: int) -> Floats:
    """The steps in float32, as one writes them; h of the last one."""
    x, h, *biases, c = vectors
    for _ in range(steps):
        i, f, g, o = (
            weights[2 * gate] @ x + weights[2 * gate + 1] @ h + biases[gate] for gate in range(4)
        )
        i, f, o = (1 / (1 + np.exp(-z)) for z in (i, f, o))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
    return np.asarray(h)


def lstm(bits: int) -> tuple[float, float]:
    """CPU seconds of a step, emulated and plain. Loading the weights does not count."""
    random = np.random.default_rng(1)
    scale = np.float32(HIDDEN**-0.5)
    weights = random.standard_normal((8, HIDDEN, HIDDEN), np.float32) * scale
    vectors = np.tanh(random.standard_normal((7, HIDDEN), np.float32))
    config = device(bits, 8 * (HIDDEN // NATIVE) ** 2)
    program = macaw.assemble(Source(lstm_source(), "lstm.s"), device=config)
    machine = Device(config)
    machine.load(program)
    tiled_weights = tiled(weights)
    machine.write_tensor("w", tiled_weights)
    machine.write_tensor("q", vectors.astype(np.float16).reshape(-1, NATIVE))
    core = machine.cores["nnp"]

    def steps() -> float:
        return core.counters()["tiles"] / len(tiled_weights)

    while steps() < 1:  # weights are loaded, and prepared when they are first used
        machine.run(max_cycles=CYCLES)
    spent = []
    while steps() < STEPS:
        before = steps()
        of_run = timed(lambda: machine.run(max_cycles=CYCLES))
        if steps() - before > 1:  # else it has waited for weights
            spent.append(of_run / (steps() - before))
    machine.run()
    h = machine.read_tensor("h").reshape(STEPS, -1)
    check("LSTM", np.abs(h[0] - lstm_plain(weights, vectors, 1)).max())
    return median(spent), seconds(lambda: lstm_plain(weights, vectors, 1))


def check(layer: str, error: float) -> None:
    """Five bits are not many, but a wrong program is further off."""
    if error > 0.5:
        raise SystemExit(f"{layer}: the result is off by {error}")


CONVOLUTION = """
        .input  w, float16, {tiles}, {native}, {native}
        .input  x, float16, {positions}, {channels}
        .output y, float16, {positions}, {channels}
        .core   nnp
        SetRows({k})
        SetCols({k})
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        SetIterations({positions})
        v_rd_inc Dram, {x}, {k}
        mv_mul  0
        v_relu
        v_wr_inc Dram, {y}, {k}
        end_chain
"""


def convolution_source() -> str:
    """A 1×1 convolution with relu, from Dram to Dram."""
    k = CHANNELS // NATIVE
    at = k * k * NATIVE  # in native vectors: where x begins
    return CONVOLUTION.format(
        tiles=k * k, native=NATIVE, positions=POSITIONS, channels=CHANNELS, k=k,
        x=at, y=at + POSITIONS * k,
    )  # fmt: skip


def convolution(bits: int) -> tuple[float, float]:
    """CPU seconds of the convolution emulated, and plain."""
    random = np.random.default_rng(2)
    weights = random.standard_normal((CHANNELS, CHANNELS), np.float32) * np.float32(CHANNELS**-0.5)
    image = np.maximum(random.standard_normal((POSITIONS, CHANNELS), np.float32), 0)
    config = device(bits, (CHANNELS // NATIVE) ** 2)
    program = macaw.assemble(Source(convolution_source(), "convolution.s"), device=config)
    machine = Device(config)
    spent = []
    for _ in range(ROUNDS):
        machine.load(program)
        machine.write_tensor("w", tiled(weights[None]))
        machine.write_tensor("x", image.astype(np.float16))
        spent.append(timed(machine.run))

    def plain() -> Floats:
        return np.asarray(np.maximum(image @ weights.T, 0))

    check("convolution", np.abs(machine.read_tensor("y") - plain()).max())
    return median(spent), seconds(plain)


def main() -> None:
    """Print the table."""
    rows, worst = [], 0.0
    for name, layer in ((f"LSTM step, {HIDDEN}", lstm), ("1×1 convolution", convolution)):
        for bits in WIDTHS:
            ours, plain = layer(bits)
            worst = max(worst, ours / plain)
            times = (f"{ours * 1000:.2f}", f"{plain * 1000:.2f}", f"{ours / plain:.1f}")
            rows.append([name, f"{bits}", *times])
    print("## Layers on nnp\n")
    print(f"Programs in block floating point and fp16, N {NATIVE}, beside NumPy float32.\n")
    print(table(["layer", "mantissa bits", "ms", "NumPy, ms", "times"], rows))
    print(target(f"at most {MOST:g} times plain NumPy: {worst:.1f}", worst <= MOST))


if __name__ == "__main__":
    main()
