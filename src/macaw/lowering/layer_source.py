"""Writes a plan as a program: the assembly source, and the .npy files that it includes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import macaw.lowering.image_program  # noqa: F401 - it registers the rows and transfers of an ImagePlan
from macaw.isa.config import load, presets
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.finishing import factor_bytes, factors
from macaw.lowering.image_plan import ImagePlan
from macaw.lowering.listing import Listing, string
from macaw.lowering.macro_library import HALVES, MACROS
from macaw.lowering.plan import ProductPlan
from macaw.lowering.processor_program import write_processor
from macaw.lowering.row_program import write_rows
from macaw.lowering.shared_code import (
    IncludeLibrary,
    SharedCode,
    write_record,
    write_used_constants,
)
from macaw.lowering.slab_padding import ZEROS, padded_slabs
from macaw.lowering.transfers import COPY, SECOND, WEIGHT_TENSOR, first_copies, write_transfers
from macaw.lowering.unused_sums import ZERO_SUMS, zero_fills, zero_row_bytes


@dataclass(frozen=True, eq=False)
class SourceFiles:
    """An assembly source, and the files that it includes, by name."""

    source: str
    files: dict[str, NDArray[Any]] = field(default_factory=dict)  # arrays of .npy files
    texts: dict[str, str] = field(default_factory=dict)  # text files


@dataclass(frozen=True)
class Linkage:
    """The names that connect a layer's subroutine with a network's program.

    `entry` is the name of the subroutine. `x` and `y` are the symbols of its activations and
    results. `memory` is the symbol of the space for tiles in each on-chip unit: all layers use the
    same space, one layer after the other. `weights` is the symbol of the tensor from which weights
    are read at run time; it is empty if the weights are constants. If two tensors form the image,
    `second` is the symbol of the tensor with the odd rows; otherwise it is empty. `shapes` has the
    shapes of x and y if they differ from the product's shapes, else it is None.
    """

    entry: str
    x: str
    y: str
    memory: str
    weights: str  # the symbol of the tensor from which weights are read, if there is one
    second: str  # the symbol of the image's odd rows, if two tensors form the image (`paired`)
    shapes: tuple[tuple[int, ...], tuple[int, ...]] | None


def layer_source(plan: ProductPlan, name: str, reasons: Sequence[str]) -> SourceFiles:
    """Return the program of a plan: the source NAME.s, and the files that it includes.

    These are NAME.w.npy with the weights, and if the plan has them, NAME.bias.npy with the bias and
    NAME.factors.npy with the factors of results. `reasons` become comments at the source's start. A
    device that is not a preset is written to NAME.device.toml.
    """
    out = Listing()
    texts: dict[str, str] = {}
    _head(out, plan, name, reasons)
    device = plan.config.name
    if device not in presets() or load(device) != plan.config:
        file = f"{name}.device.toml"
        device, texts[file] = string(file), plan.config.to_toml()
    out.put(f".device {device}")
    x_shape, y_shape = (", ".join(map(str, shape)) for shape in plan.product.shapes)
    out.put(f".input x, {plan.types.activation}, {x_shape}")
    out.put(f".output y, {plan.types.result}, {y_shape}")
    out.title("external memory")
    files = _included_data(out, plan, name, shared=False)
    _work_memory(out, plan, zero_sums=0)
    write_rows(out, plan)
    write_processor(out, plan)
    write_transfers(out, plan, first_copies(plan), shared=False)
    return SourceFiles(out.text(), files, texts)


def layer_subroutine(
    plan: ProductPlan,
    name: str,
    linkage: Linkage,
    code: SharedCode,
    includes: IncludeLibrary,
    heading: Sequence[str],
) -> SourceFiles:
    """Return the source NAME.s of a subroutine of cp that computes the product of a plan.

    It is one file of a network's program; other files define the symbols of `linkage`. The source
    includes .npy files with weights, bias and factors of results. Layers of the same shape share
    code: their sources include the same files. `heading` has the comments at the source's start.
    """
    out = Listing()
    out.extend(heading)
    out.put(f'.include "{MACROS}"')
    shapes = linkage.shapes or plan.product.shapes
    x_shape, y_shape = (", ".join(map(str, shape)) for shape in shapes)
    out.put(f".view x, {plan.types.activation}, {x_shape}, at={linkage.x}")
    out.put(f".view y, {plan.types.result}, {y_shape}, at={linkage.y}")
    if linkage.weights:
        size = f"{plan.types.weight}, {plan.product.n}"
        out.put(f".view {WEIGHT_TENSOR}, {size}, at={linkage.weights}")
    if linkage.second:
        out.put(f".view {SECOND}, {plan.types.activation}, {x_shape}, at={linkage.second}")
    files = _included_data(out, plan, name, shared=True)
    shift = "" if plan.product.shift is None else f", shift={plan.product.shift}"
    out.put(f"sizes room={int(plan.weight_bytes.max())}{shift}", "of a tile's weights; of results")
    out.put(f'.include "{includes.name("shape", _shape(plan, linkage, code))}"')
    out.put(f"layer {linkage.entry}, {code.symbol}")
    return SourceFiles(out.text(), files)


def _shape(plan: ProductPlan, linkage: Linkage, code: SharedCode) -> Listing:
    """Return the lines of a layer's source that layers of the same shape share.

    They reserve memory for intermediate data, and declare the program of the rows (its arrays are
    at the symbol `linkage.memory`), the tables of transfers, and the record with the numbers that
    the shared code reads (`code.parameters`).
    """
    out, data = Listing(), Listing()
    name = plan.mapping.name.capitalize()
    out.comment(f"{name} stationary, split {plan.partition.split}{plan.variant}. {_split(plan)}")
    _work_memory(out, plan, zero_row_bytes(plan) if zero_fills(plan) else 0)
    write_transfers(data, plan, first_copies(plan) + zero_fills(plan), shared=True)
    out.mark("constants")
    write_used_constants(out, plan, [*data.lines, *HALVES.splitlines()])
    write_rows(out, plan, linkage.memory)
    out.append(data)
    write_record(out, code.parameters)
    return out


def _included_data(
    out: Listing, plan: ProductPlan, name: str, *, shared: bool
) -> dict[str, NDArray[Any]]:
    """Write directives that include .npy files in external memory; return the arrays by file name.

    If `shared`, the source is for a layer of a network. It then calls the macro `bias`, which
    writes the label of the start sums.
    """
    files: dict[str, NDArray[Any]] = {}
    rounds = plan.weight_rounds
    file = f"{name}.w.npy"
    files[file] = rounds.reshape(-1, rounds.shape[-1])
    slots, what = rounds.shape[3], "a round a tile, in the order of loading"
    statement = f".sparse {string(file)}, clusters={slots // plan.pes}, pes={plan.pes}"
    if plan.dense:
        files[file] = rounds.reshape(-1, slots, rounds.shape[-1])
        statement = f".npy {string(file)}"
    out.put(statement, what, label="w")
    if plan.product.bias is not None:
        file = f"{name}.bias.npy"
        files[file] = plan.start_sums()
        what = "what sums begin with, by (n tile, row)"
        if shared:
            out.put(f"bias {string(file)}", what)
        else:
            out.put(f".npy {string(file)}", what, label="start_sums")
    if factor_bytes(plan):
        file = f"{name}.factors.npy"
        files[file] = factors(plan)
        out.put(".balign 32")
        out.put(f".npy {string(file)}", "scales and table, by (n tile, row)", label="factors")
    return files


def _work_memory(out: Listing, plan: ProductPlan, zero_sums: int) -> None:
    """Write the directives that reserve external memory for intermediate data of a plan.

    Depending on the plan these are a copy of x (with padding, or with only some pixels), partial
    sums, and zeros that the dma copies. `zero_sums` is the number of bytes of the zeros for unused
    sums.
    """
    slabs = padded_slabs(plan)
    zeros = slabs.line if slabs is not None else 0
    out.mark("memory")
    if plan.copies_input or plan.returns_sums or zeros or zero_sums:
        out.put(".bss")
        out.put(".balign 32")
    if zero_sums:
        out.put(f".space {zero_sums}", "zeros for sums", label=ZERO_SUMS)
        out.put(".balign 32")
    if zeros:
        out.put(f".space {zeros}", "a line of zeros for paddings", label=ZEROS)
        out.put(".balign 32")
    if plan.copies_input:
        shape = ", ".join(map(str, plan.product.frame))
        pads = isinstance(plan, ImagePlan)
        what = "x in a frame of zeros" if pads else "the pixels of x that are needed"
        out.put(f".array {plan.types.activation}, {shape}", what, label=COPY)
    if plan.returns_sums:
        sums = plan.partial_bytes // plan.sum_size
        shape = f"{plan.partition.rows}, {sums}"
        if plan.product.bias is None:
            array = f".array {plan.types.sum}, {plan.start_rows}, {sums}"
            out.put(array, "zeros", label="start_sums")
        if not plan.keeps_sums_on_chip:
            count = plan.count(plan.mapping.inner)
            out.put(
                f".array {plan.types.sum}, {count}, {shape}",
                "raw sums of the tiles of a group",
                label="partial_sums",
            )
    out.mark()


def _head(out: Listing, plan: ProductPlan, name: str, reasons: Sequence[str]) -> None:
    reasons = reasons or [f"{plan.mapping.name} stationary, split {plan.partition.split}."]
    out.extend([*_title(plan, name), "", *reasons, ""])
    _slices_of_clusters(out, plan)


def _title(plan: ProductPlan, name: str) -> list[str]:
    """Return the first comment lines of a source: its name, its operation, its nonzero weights."""
    nonzero = int(np.count_nonzero(plan.product.weights))
    return [
        f"{name}.s - {plan.product.describe()};",
        f"{nonzero} weights that are not zero. Written by macaw lower.",
    ]


def _slices_of_clusters(out: Listing, plan: ProductPlan) -> None:
    """Write, for each cluster, a comment that says what the cluster computes."""
    part = plan.partition
    out.comment(f"{_split(plan)} What each gets:")
    for p in range(part.rows):
        for q in range(part.clusters):
            out.comment(f"row {p}, cluster {q}: {_slices(plan, p, q)}")


def _split(plan: ProductPlan) -> str:
    """Return a sentence that says which dimensions are divided."""
    rows, clusters = plan.partition.dims
    return f"Rows of the array divide {rows}, clusters {clusters}."


def _slices(plan: ProductPlan, p: int, q: int) -> str:
    """Return a comment of the source that says what cluster q of row p computes.

    The comment has the ranges of I, W and O in the notation of seed 000 Fig. 9. For a
    convolution, it has the rows and channels of the outputs.
    """
    m, n, k = (plan.part(dim, p, q) for dim in "MNK")
    if isinstance(plan, ImagePlan):
        return f"rows {m[0]}:{m[1]} and channels {n[0]}:{n[1]} of the outputs"
    return (
        f"I[{m[0]}:{m[1]}, {k[0]}:{k[1]}]  W[{k[0]}:{k[1]}, {n[0]}:{n[1]}]"
        f"  O[{m[0]}:{m[1]}, {n[0]}:{n[1]}]"
    )
