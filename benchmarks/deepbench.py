"""DeepBench on seed 003's processor: published times and the timing model's (docs/timing-nnp.md).

A layer's program has all its steps; inputs come through NetInQ, a step's hidden state leaves through
NetOutQ. The cycles of a step do not depend on the numbers in it. So the inputs are zeros, and all tiles
of MatrixRf are loaded from one native tile of Dram. The published times do not contain the time to load
weights. So the cycles of the same program without steps are subtracted from those of the whole run.

Each layer is also measured with the other values of `nnp.mapping`, which decides which tile engine
multiplies which tile.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import macaw
from benchmarks.figures import LOWER, Effort, Figure, count
from macaw.asm.source import Source
from macaw.isa import config
from macaw.isa.config import Configuration

DEVICE, MAPPING = "bw_s10", "nnp.mapping"
BEFORE = 2  # products of the next step's input in front of the chain that ends a step: they hide its wait
WITHIN = 0.10  # of the published time


class Layer(NamedTuple):
    """A row of the published table."""

    kind: str
    hidden: int
    steps: int
    published: float  # milliseconds


LAYERS = (
    Layer("GRU", 2816, 750, 1.987),
    Layer("GRU", 2560, 375, 0.993),
    Layer("GRU", 2048, 375, 0.954),
    Layer("GRU", 1536, 375, 0.951),
    Layer("GRU", 1024, 1500, 3.792),
    Layer("GRU", 512, 1, 0.013),
    Layer("LSTM", 2048, 25, 0.074),
    Layer("LSTM", 1536, 50, 0.145),
    Layer("LSTM", 1024, 25, 0.074),
    Layer("LSTM", 512, 25, 0.077),
    Layer("LSTM", 256, 150, 0.425),
)

PRODUCT = """
        v_rd    InitialVrf, {source}
        mv_mul  {matrix}
        vv_add  AddSubVrf0, {added}
"""
GATES = {"GRU": ("r", "h", "z"), "LSTM": ("i", "f", "c", "o")}  # the first gates are needed first


def _input(r: int, step: int) -> str:
    """Return the chain that reads a step's input from NetInQ."""
    return f"\n        v_rd    NetInQ\n        v_wr    InitialVrf, {(1 + step % 2) * r}\n"


def _input_half(kind: str, r: int, step: int) -> list[str]:
    """Return the chains of the products of a step's input, with biases added, into AddSubVrf0."""
    half, chains = step % 2, []
    for number in range(len(GATES[kind])):
        added = _gate(kind, r, number, half)
        chains.append(
            PRODUCT.format(source=(1 + half) * r, matrix=number * r * r, added=number * r)
            + f"        v_wr    AddSubVrf0, {added}\n"
        )
    return chains


def _gate(kind: str, r: int, number: int, half: int) -> int:
    """Return the address in AddSubVrf0 of the input half of gate `number`, after the biases.

    `half` is 0 for even steps and 1 for odd ones; `r` is the number of native vectors of a state.
    """
    gates = len(GATES[kind])
    return (gates + half * gates + number) * r


def _gru(r: int, step: int, last: bool, before: int) -> str:
    """Return the chains of one step of a GRU: h' = h~ + z (h - h~).

    AddSubVrf1 holds h~, MulVrf holds r and z. AddSubVrf0 holds h and h', which change places in
    each step.
    """
    half = step % 2
    states = 9 * r

    def gate(number: int) -> str:
        added = _gate("GRU", r, number, half)
        return PRODUCT.format(source=0, matrix=(3 + number) * r * r, added=added)

    text = "" if last else _input(r, step + 1)
    text += gate(0) + "        v_sigm\n        v_wr    MulVrf, 0\n"
    text += f"""
        v_rd    InitialVrf, 0
        mv_mul  {4 * r * r}
        vv_mul  0
        vv_add  AddSubVrf0, {_gate("GRU", r, 1, half)}
        v_tanh
        v_wr    AddSubVrf1, 0
"""
    text += gate(2) + f"        v_sigm\n        v_wr    MulVrf, {r}\n"
    behind = [] if last else _input_half("GRU", r, step + 1)
    return "".join(
        (
            text,
            *behind[:before],
            f"""
        v_rd    AddSubVrf1, 0
        vv_b_sub_a AddSubVrf0, {states + half * r}
        vv_mul  {r}
        vv_add  AddSubVrf1, 0
        v_wr    InitialVrf, 0
        v_wr    AddSubVrf0, {states + (1 - half) * r}
        v_wr    NetOutQ
""",
            *behind[before:],
        )
    )


def _lstm(r: int, step: int, last: bool, before: int) -> str:
    """Return the chains of one step of an LSTM: c' = f · c + i · tanh(..), h' = o · tanh(c').

    MulVrf has i, o and c; AddSubVrf1 has f · c and c'.
    """
    half = step % 2

    def gate(number: int) -> str:
        added = _gate("LSTM", r, number, half)
        return PRODUCT.format(source=0, matrix=(4 + number) * r * r, added=added)

    text = "" if last else _input(r, step + 1)
    text += gate(0) + "        v_sigm\n        v_wr    MulVrf, 0\n"
    text += gate(1) + f"        v_sigm\n        vv_mul  {2 * r}\n        v_wr    AddSubVrf1, 0\n"
    text += (
        gate(2)
        + f"""        v_tanh
        vv_mul  0
        vv_add  AddSubVrf1, 0
        v_wr    MulVrf, {2 * r}
        v_wr    AddSubVrf1, {r}
"""
    )
    text += gate(3) + f"        v_sigm\n        v_wr    MulVrf, {r}\n"
    behind = [] if last else _input_half("LSTM", r, step + 1)
    return "".join(
        (
            text,
            *behind[:before],
            f"""
        v_rd    AddSubVrf1, {r}
        v_tanh
        vv_mul  {r}
        v_wr    InitialVrf, 0
        v_wr    NetOutQ
""",
            *behind[before:],
        )
    )


def tera_operations(layer: Layer, milliseconds: float) -> float:
    """Return the rate in 10**12 operations a second if a layer takes this many milliseconds.

    A product and its sum are two operations.
    """
    matrices = 2 * len(GATES[layer.kind])
    operations = 2 * matrices * layer.hidden**2 * layer.steps
    return operations / milliseconds / 1e9


def peak(device: Configuration) -> float:
    """Return the rate of all lanes of a device in 10**12 operations a second."""
    lanes = device["nnp.engines"] * device["nnp.lanes"] * device["nnp.native"]
    return float(2 * lanes * device["nnp.megahertz"] / 1e6)


def source(kind: str, hidden: int, steps: int, native: int, before: int = BEFORE) -> str:
    """Return a layer's program of `steps` steps for a core of this native dimension.

    `before` products of the next step's input come before the chain that ends a step.
    """
    r = -(-hidden // native)
    gates = len(GATES[kind])
    zeros = [
        f"        v_wr    {memory}, {place}\n"
        for memory, count in (("InitialVrf", 1), ("AddSubVrf0", gates), ("MulVrf", 3))
        for place in range(0, count * r, r)
    ]
    if kind == "GRU":
        zeros.append(f"        v_wr    AddSubVrf0, {9 * r}\n")
    text = ""
    if steps:
        text += f"        .input  x, float16, {steps * r}, {native}, at=netin\n"
        text += f"        .output h, float16, {steps * r}, {native}, at=netout\n"
    text += "        .core   nnp\n"
    for tile in range(2 * gates * r * r):
        text += f"        m_rd    Dram, 0\n        m_wr    MatrixRf, {tile}\n"
    text += f"        SetRowsCols({r}, {r})\n        v_rd    Dram, 0\n" + "".join(zeros)
    step = _gru if kind == "GRU" else _lstm
    text += "".join((_input(r, 0), *_input_half(kind, r, 0))) if steps else ""
    for number in range(steps):
        text += step(r, number, number == steps - 1, before)
    zeros_of_dram = (
        f"        .section .data\n        .zero   {native * native * 2}\n"  # Dram begins with it
    )
    return text + "        end_chain\n" + zeros_of_dram


def cycles(kind: str, hidden: int, steps: int, device: Configuration, before: int = BEFORE) -> int:
    """Return the cycles of the whole run of the program that `source` makes for a layer."""
    native = int(device["nnp.native"])
    text = source(kind, hidden, steps, native, before)
    program = macaw.assemble(Source(text, "layer.s"), device=device)
    shape = (-(-hidden // native) * steps, native)
    given = {"x": np.zeros(shape, np.float16)} if steps else {}
    return macaw.run(program, given, max_cycles=1 << 40).cycles


def cycles_of_steps(layer: Layer, steps: int, device: Configuration) -> int:
    """Return the cycles of a layer's program with this many steps, without those to load weights."""
    with_steps, without = (cycles(layer.kind, layer.hidden, n, device) for n in (steps, 0))
    return with_steps - without


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the published time of each layer and that of the timing model.

    The cycles of a step are measured with each mapping of tiles to engines; all other figures of
    the model have the mapping of the preset.
    """
    device = config.load(DEVICE)
    megahertz = int(device["nnp.megahertz"])
    others = [x for x in config.settings()[MAPPING].choices if x != device[MAPPING]]
    for layer in LAYERS[-1:] if effort.small else LAYERS:
        steps = 1 if effort.small else layer.steps
        begun = time.process_time()
        a_step = cycles_of_steps(layer, steps, device) / steps
        seconds = time.process_time() - begun
        row = f"{layer.kind} {layer.hidden}/{layer.steps}"
        ours = a_step * layer.steps / megahertz / 1000  # milliseconds
        published = layer.published * 1000 * megahertz / layer.steps
        whole = peak(device)
        yield count(row, "cycles a step", published)
        yield count(row, "ours", a_step)
        for mapping in others:
            changed = device.changed({MAPPING: mapping})
            yield count(row, f"by {mapping}", cycles_of_steps(layer, steps, changed) / steps)
        for column, value in (
            ("ms", layer.published),
            ("our ms", ours),
            ("away, %", 100 * (ours / layer.published - 1)),
            ("TFLOPS", tera_operations(layer, layer.published)),
            ("our TFLOPS", tera_operations(layer, ours)),
            ("of the peak, %", 100 * tera_operations(layer, layer.published) / whole),
            ("ours, %", 100 * tera_operations(layer, ours) / whole),
        ):
            yield count(row, column, value)
        yield Figure(row, "s", (seconds,), LOWER)
