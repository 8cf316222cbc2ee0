"""Layers on the emulated nnp and in plain NumPy float32, measured in one process.

The layers are an LSTM step with 2048 hidden units and a 1×1 convolution. The emulator runs whole
programs and counts their cycles. Every product is exact in block floating point and rounded once;
every function is correctly rounded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

import macaw
from benchmarks.figures import LOWER, Effort, Figure, ratio
from benchmarks.measure import ROUNDS, timed
from macaw.asm.source import Source
from macaw.emu.device import Device
from macaw.isa.config import Configuration

LEAST_SECONDS = 0.1  # CPU time of one measurement: a call is far shorter than the clock's tick
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


def seconds(action: Callable[[], object], rounds: int) -> list[float]:
    """Return the CPU seconds of one call of `action` in each round, as a mean over many calls."""
    action()
    found = []
    for _ in range(rounds):
        calls, start = 0, time.process_time()
        while (spent := time.process_time() - start) < LEAST_SECONDS:
            action()
            calls += 1
        found.append(spent / calls)
    return found


def device(bits: int, tiles: int) -> Configuration:
    """Return a device whose nnp has mantissas of `bits` bits and a MatrixRf for `tiles` tiles."""
    widths = {"nnp.vector_bits": bits, "nnp.matrix_bits": bits}
    sizes = {"nnp.native": NATIVE, "nnp.lanes": 16, "nnp.engines": 8, "nnp.matrix_rf": tiles}
    return Configuration("bench", {**widths, **sizes, "nnp.instructions": 65536})


def tiled(matrices: Floats) -> NDArray[np.float16]:
    """Return the square matrices (count, n, n) as native tiles, row by row."""
    count, side, _ = matrices.shape
    blocks = side // NATIVE
    cut = matrices.reshape(count, blocks, NATIVE, blocks, NATIVE).transpose(0, 1, 3, 2, 4)
    return cut.reshape(-1, NATIVE, NATIVE).astype(np.float16)


def lstm_source(hidden: int = HIDDEN, number: int = STEPS) -> str:
    """Return the program of an LSTM.

    It loads the weights into MatrixRf, then runs the steps; h of each step goes to NetOutQ.
    """
    k = hidden // NATIVE
    of_matrix = k * k
    places = {f"{i}k": i * k for i in range(1, 8)}
    lines = [
        f"        .input  w, float16, {8 * of_matrix}, {NATIVE}, {NATIVE}",
        f"        .input  q, float16, {7 * k}, {NATIVE}, at=netin",
        f"        .output h, float16, {number * k}, {NATIVE}, at=netout",
        f"        .core   nnp\n        SetRows({k})\n        SetCols({k})",
    ]
    for matrix in range(8):
        at = matrix * of_matrix
        lines.append(f"        m_rd    Dram, {at}\n        m_wr    MatrixRf, {at}")
    lines += [f"        v_rd    NetInQ\n        v_wr    {to.format(**places)}" for to in STATE]
    lines.append(f"        .rept   {number}")
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
    """Return the h of the last step in NumPy, float32, in the usual way to write an LSTM."""
    x, h, *biases, c = vectors
    for _ in range(steps):
        i, f, g, o = (
            weights[2 * gate] @ x + weights[2 * gate + 1] @ h + biases[gate] for gate in range(4)
        )
        i, f, o = (1 / (1 + np.exp(-z)) for z in (i, f, o))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
    return np.asarray(h)


def lstm(bits: int, hidden: int, number: int, rounds: int) -> tuple[list[float], list[float]]:
    """Return the CPU seconds of an LSTM step, emulated and in NumPy, in each round.

    Mantissas have `bits` bits. The time to load the weights does not count.
    """
    random = np.random.default_rng(1)
    scale = np.float32(hidden**-0.5)
    weights = random.standard_normal((8, hidden, hidden), np.float32) * scale
    vectors = np.tanh(random.standard_normal((7, hidden), np.float32))
    config = device(bits, 8 * (hidden // NATIVE) ** 2)
    program = macaw.assemble(Source(lstm_source(hidden, number), "lstm.s"), device=config)
    cycles = CYCLES if hidden == HIDDEN else 50
    machine = Device(config)
    machine.load(program)
    tiled_weights = tiled(weights)
    machine.write_tensor("w", tiled_weights)
    machine.write_tensor("q", vectors.astype(np.float16).reshape(-1, NATIVE))
    core = machine.cores["nnp"]

    def steps() -> float:
        return core.counters()["tiles"] / len(tiled_weights)

    while steps() < 1:  # weights are loaded, and prepared when they are first used
        machine.run(max_cycles=cycles)
    spent = []
    while steps() < number:
        before = steps()
        of_run = timed(lambda: machine.run(max_cycles=cycles))
        if steps() - before > (hidden == HIDDEN):  # else it has waited for weights
            spent.append(of_run / (steps() - before))
    machine.run()
    h = machine.read_tensor("h").reshape(number, -1)
    check("LSTM", np.abs(h[0] - lstm_plain(weights, vectors, 1)).max())
    return spent, seconds(lambda: lstm_plain(weights, vectors, 1), rounds)


def check(layer: str, error: float) -> None:
    """Exit with an error if the result of a layer is too far off.

    Mantissas of five bits are not exact, but a wrong program is further off.
    """
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


def convolution_source(positions: int = POSITIONS, channels: int = CHANNELS) -> str:
    """Return the program of a 1×1 convolution with relu, from Dram to Dram."""
    k = channels // NATIVE
    at = k * k * NATIVE  # in native vectors: where x begins
    return CONVOLUTION.format(
        tiles=k * k, native=NATIVE, positions=positions, channels=channels, k=k,
        x=at, y=at + positions * k,
    )  # fmt: skip


def convolution(
    bits: int, positions: int, channels: int, rounds: int
) -> tuple[list[float], list[float]]:
    """Return the CPU seconds of the convolution, emulated and in NumPy, in each round.

    Mantissas have `bits` bits.
    """
    random = np.random.default_rng(2)
    weights = random.standard_normal((channels, channels), np.float32) * np.float32(channels**-0.5)
    image = np.maximum(random.standard_normal((positions, channels), np.float32), 0)
    config = device(bits, (channels // NATIVE) ** 2)
    program = macaw.assemble(
        Source(convolution_source(positions, channels), "convolution.s"), device=config
    )
    machine = Device(config)
    spent = []
    for _ in range(rounds):
        machine.load(program)
        machine.write_tensor("w", tiled(weights[None]))
        machine.write_tensor("x", image.astype(np.float16))
        spent.append(timed(machine.run))

    def plain() -> Floats:
        return np.asarray(np.maximum(image @ weights.T, 0))

    check("convolution", np.abs(machine.read_tensor("y") - plain()).max())
    return spent, seconds(plain, rounds)


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the times of both layers, emulated and in NumPy, by mantissa bits."""
    rounds = effort.rounds(ROUNDS)
    hidden, number = (NATIVE, 4) if effort.small else (HIDDEN, STEPS)
    positions, channels = (16, NATIVE) if effort.small else (POSITIONS, CHANNELS)
    for bits in WIDTHS[:1] if effort.small else WIDTHS:
        for name, (ours, plain) in (
            (f"LSTM step, {hidden}", lstm(bits, hidden, number, rounds)),
            ("1×1 convolution", convolution(bits, positions, channels, rounds)),
        ):
            row = f"{name}, {bits} bits"
            yield Figure(row, "ms", tuple(1000 * x for x in ours), LOWER)
            yield Figure(row, "NumPy, ms", tuple(1000 * x for x in plain))
            yield ratio(row, "times", ours, plain, LOWER, "NumPy float32")
