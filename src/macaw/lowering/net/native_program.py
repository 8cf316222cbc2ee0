"""Writes a layer of the core nnp as a subroutine of a network's program; predicts its cycles."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from macaw.isa import memory_map, registry
from macaw.isa.config import Configuration
from macaw.isa.descriptors.nnp import DESCRIPTOR, vector_bytes
from macaw.isa.dma import TRANSFER
from macaw.lowering.layer_source import SourceFiles
from macaw.lowering.listing import Listing
from macaw.lowering.net.network import NativeLayer
from macaw.lowering.nnp.operations import Model, Port
from macaw.lowering.nnp.source import write_code, write_data
from macaw.lowering.processor_cycles import ProcessorCycles

if TYPE_CHECKING:
    from macaw.lowering.nnp.cycles import Prediction

# Labels in these sources.
NATIVE_LABELS = frozenset(
    "run_nnp nnp_data nnp_copies vectors scratch matrices step steps row rows".split()
)
_BEFORE = 7  # instructions of cp before `core.start`, without the store to nnp's register
_TRANSFER = 4  # instructions of cp from `core.start` on, before the first transfer
_GRANTS = 2  # cycles from the last beat of a transfer until cp knows of it


def native_subroutine(
    layer: NativeLayer, entry: str, inputs: Sequence[str], output: str, config: Configuration
) -> SourceFiles:
    """Return the source ENTRY.s of a subroutine of cp that lets nnp compute a layer.

    `inputs` and `output` are the symbols of the layer's tensors. Raises `LowerError` if something
    does not fit into nnp.
    """
    out = Listing()
    out.extend([f"{entry}.s - {describe(layer)}. Written by macaw compile."])
    out.put(f".global {entry}")
    out.put(".core cp")
    table = registry.core("nnp")
    (base,) = (row.address for row in table.registers if row.name == "base")
    address = memory_map.REGISTERS + (DESCRIPTOR.number << memory_map.CORE_SHIFT) + base
    copies = len(layer.native.inputs) + 1
    out.block(
        f"""
{entry}: la t0, nnp_data # nnp's Dram begins there
        li t1, {address:#x} # its register base
        sw t0, 0(t1)
        li t0, {DESCRIPTOR.number} # nnp
        la t1, run_nnp
        core.start t0, t1
        la t0, nnp_copies
        li t1, {copies} # transfers into nnp and out of it
1: dma.copy zero, t0
        addi t0, t0, {TRANSFER.size}
        addi t1, t1, -1
        bnez t1, 1b
        li t0, {1 << DESCRIPTOR.number}
        core.wait t0
        dma.wait zero
        ret
        """
    )
    out.put(".section .data.cp")
    out.put(".balign 4")
    out.comment("dst, src, row bytes, rows, dst stride, src stride")
    windows = {window.name: window.start(0) for window in table.windows}
    size = vector_bytes(config)
    label = "nnp_copies"
    for symbol, port in zip(inputs, layer.native.inputs, strict=True):
        count = _vectors(layer.native, port)
        row = f".word {windows['netin']:#x}, {symbol}, {size}, {count}, 0, {size}"
        out.put(row, port.name, label=label)
        label = ""
    out.put(f".word {output}, {windows['netout']:#x}, {size}, {layer.vectors[0]}, {size}, 0")
    memory = write_code(out, layer.native, config, "run_nnp")
    files = write_data(out, layer.native, memory, config, entry, "nnp_data")
    return SourceFiles(out.text(), files)


def _vectors(model: Model, port: Port) -> int:
    return model.tensors[port.tensor].vectors


def describe(layer: NativeLayer) -> str:
    """Return a text with a layer's operator and how many native vectors it reads and makes."""
    taken = sum(_vectors(layer.native, port) for port in layer.native.inputs)
    count, native = layer.vectors
    return f"{layer.operator} on nnp: {taken} to {count} native vectors of {native}"


def native_prediction(layer: NativeLayer, config: Configuration) -> Prediction:
    """Predict the device cycles from the call of a layer's subroutine to its return.

    The result also has the beats of external memory that nnp's program itself uses. The prediction
    is for a time in which no other core uses external memory.
    """
    from macaw.lowering.nnp.cycles import Prediction, Streams, predict

    cp = ProcessorCycles.of(config)
    latency, setup = int(config["mem.external_latency"]), int(config["dma.setup"])
    size = vector_bytes(config)
    beats = ceil(size / int(config["dma.width"]))
    first = setup + latency + beats
    streams = Streams(
        _TRANSFER * cp.instruction + first,
        beats,
        beats,
        [_vectors(layer.native, port) for port in layer.native.inputs],
        1 + first,  # a transfer starts in the cycle after the end of the one before
    )
    run = predict(layer.native, config, streams)
    before = _BEFORE * cp.instruction + cp.cycle
    after = latency + _GRANTS + cp.instruction  # the last one is `dma.wait`
    return Prediction(cp.call + before + run.cycles + after, run.beats)
