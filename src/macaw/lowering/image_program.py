"""Writes the program of the rows for a convolution, and the transfers of the dma."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from macaw.isa.pe import BLOCKS
from macaw.lowering.cluster_reduction import (
    cluster_reduction_exes,
    final_sequences,
    finishing_lists_by_position,
    iteration_lists,
    iteration_sizes,
    reduction_arrays,
)
from macaw.lowering.image_plan import ImagePlan
from macaw.lowering.listing import Listing
from macaw.lowering.operation import Types
from macaw.lowering.plan import ProductPlan
from macaw.lowering.row_program import (
    FINAL,
    HOLD,
    PRODUCT,
    Array,
    Exe,
    Packets,
    Sequence,
    arrays,
    finishing_lists,
    list_sizes,
    lists,
    sequences,
    to_clusters,
)
from macaw.lowering.slab_padding import write_kernel_parts, write_padded_slabs
from macaw.lowering.transfers import (
    COPY,
    SECOND,
    UNIT,
    Transfer,
    TransferGrid,
    activation_grid,
    activation_unit,
    activations_of,
    input_copies,
    input_name,
    owner_name,
    result_grid,
    results_of,
    sums_in,
    write_activations,
    write_input_places,
)

# The comment of the sequences that store sums.
POSITIONS = "all output positions at once"


@arrays.register
def _arrays(plan: ImagePlan) -> list[Array]:
    tile, types, part = plan.tile, plan.types, plan.partition
    clusters = 1 if plan.shares_activations else part.clusters
    plane = (plan.slab_rows, plan.slab_columns, plan.slab_channels)
    sums = (tile.outputs, plan.summing_clusters * plan.pes)
    tiles = [
        Array("x_tile", types.activation, (clusters, *plane), "(cluster, row, column, channel)"),
        Array("w_tile", "uint8", (int(plan.weight_bytes.max()),), "index + value"),
    ]
    if plan.has_start_sums:
        tiles.append(start_array(plan))
    if plan.returns_sums or plan.reduces_rows:
        tiles.append(Array("partial", types.sum, sums, "raw sums: (output position, PE)"))
    return [*tiles, *reduction_arrays(plan), result_array(plan)]


def start_array(plan: ImagePlan) -> Array:
    """Return the on-chip array for the biases or partial sums with which a tile starts."""
    what = "what sums begin with: (output position, PE)"
    if plan.start_positions == 1:
        what = "what the sums of all output positions begin with: (1, PE)"
    return Array(
        "start", plan.types.sum, (plan.start_positions, plan.summing_clusters * plan.pes), what
    )


def result_array(plan: ImagePlan) -> Array:
    """Return the array in the on-chip unit for the results of a tile."""
    shape, what = (plan.tile.outputs, plan.summing_clusters * plan.pes), "(output position, PE)"
    if plan.by_columns:
        shape, what = shape[::-1], "(PE, output position)"
    return Array("result", plan.types.result, shape, what)


@sequences.register
def _sequences(plan: ImagePlan) -> list[Sequence]:
    result = []
    if plan.holds_activations:
        result.append(Sequence("hold", HOLD, ["ld activations"], what="the slab stays in the PEs"))
    body = [] if plan.holds_activations else ["ld activations"]
    body.append("ld weights")
    if plan.adds_start_sums:
        # Results use the other blocks; the start sums of one segment stay for all positions.
        body.append(f"ld psums, base={BLOCKS - 1}")
    body += [f"mac base=0, acc=0{plan.mac_options}", "spu nonsf, src=0, dst=0"]
    inner, outer = plan.steps_of_base
    options = (
        f".loop inner={plan.loops[0]}, outer={plan.loops[1]}",
        f".step mac.base, inner={inner}, outer={outer}",
        ".step spu.dst, inner=1",
        f".then ib={FINAL}",
    )
    header = ", state=rq, pipeline=4"
    what = "an output position an iteration"
    result.append(Sequence("product0", PRODUCT, body, header, what, options))
    return result + final_sequences(plan, POSITIONS, POSITIONS)


@lists.register
def _lists(plan: ImagePlan) -> list[Packets]:
    return iteration_lists(plan, partial(_exes, plan), "the last k")


finishing_lists.register(ImagePlan, finishing_lists_by_position)


@list_sizes.register
def _list_sizes(plan: ImagePlan) -> list[int]:
    exes = _own_exes(plan, "", raw=False)  # raw sums take the same number of bytes
    return iteration_sizes(plan, sum(exe.size for exe in exes))


def _exes(plan: ImagePlan, name: str, raw: bool) -> list[Exe]:
    """Return the exe packets of an iteration, which start instruction sequences in the PEs.

    With `raw`, they store raw sums, else results.
    """
    added = cluster_reduction_exes(plan, raw) if plan.reduces_clusters else ()
    return [*_own_exes(plan, name, raw), *added]


def _own_exes(plan: ImagePlan, name: str, raw: bool) -> list[Exe]:
    """Return the exe packets of an iteration, but not those that add the sums of clusters.

    With `raw`, or if clusters add their sums, these packets store raw sums, else results.
    """
    to = to_clusters(plan, range(plan.partition.clusters))
    slab = "x_tile" if plan.shares_activations else "x_tile by_cluster"
    weights = f"weights w_tile {'by_pe' if plan.shares_weights else 'sliced'}"
    exes = []
    label = f"{name}_product0"
    if plan.holds_activations:
        exes.append(Exe(HOLD, (slab,), to=to, what="not if the PEs have it"))
        label = f"{name}_again: {label}"
    data = [weights] if plan.holds_activations else [slab, weights]
    if plan.adds_start_sums:
        data += [f"psums start[{place}] sliced" for place in range(plan.start_positions)]
    target = "chain" if plan.reduces_clusters else "partial" if raw else "result"
    flag = "last" if target == "result" else "shift"
    exes.append(Exe(PRODUCT, tuple(data), out_words(plan, target), to, flag, label))
    return exes


def out_words(plan: ImagePlan, target: str) -> str:
    """Return the value of the operand `out=` of an exe packet that stores sums or results.

    It has the first address, which is in the array `target`, and the strides. With them the PEs
    store their values position by position, or PE by PE if channels are the outermost dimension of
    the results.
    """
    size, outputs = Types.size(plan.types.result), plan.tile.outputs
    if target == "result" and plan.by_columns:
        return f"result[0], stride={outputs * size}, step={size}, count={outputs}"
    size = size if target == "result" else Types.size(plan.types.sum)
    return f"{target}[0], stride={size}, step={plan.slots * size}, count={outputs}"


# Transfers


@input_copies.register
def _padding(plan: ImagePlan) -> list[Transfer]:
    """Return the transfers that copy x to the inside of an area of zeros.

    The zeros around the copy are its padding. There is one transfer for each image, or one for each
    of its channels if channels are the outermost dimension.
    """
    product, size = plan.product, Types.size(plan.types.activation)
    row, column, channel = (pitch * size for pitch in product.x_pitches)
    inside = product.padding[0] * row + product.padding[1] * column
    pixels = product.height * product.width * size
    what, transfers = "x into its frame of zeros", list[Transfer]()
    for number in range(product.image_count):
        place = number * product.image_pitches[0] * size + inside
        source = number * product.channels * pixels
        if product.layout == "hwc":
            line, lines, pitch = product.width * column, product.height, row
            if line == row:  # all rows are consecutive in the frame, too
                line, lines, pitch = line * lines, 1, 0
            words = (line, lines, pitch, line if lines > 1 else 0)
            transfers.append(Transfer(f"{COPY} + {place}", f"x + {source}", *words))
        else:
            line = product.height * size
            transfers += [
                Transfer(
                    f"{COPY} + {place + item * channel}",
                    f"x + {source + item * pixels}",
                    line,
                    product.width,
                    column,
                    line,
                )
                for item in range(product.channels)
            ]
    return [replace(transfers[0], what=what), *transfers[1:]]


@write_activations.register
def _write_activations(plan: ImagePlan, out: Listing, name: str, add: str) -> None:
    if plan.pads_in_unit:
        write_padded_slabs(out, plan, name, add)
    else:
        write_activations.dispatch(ProductPlan)(plan, out, name, add)


@write_input_places.register
def _write_input_places(plan: ImagePlan, out: Listing) -> None:
    if plan.pads_in_unit:
        write_kernel_parts(out, plan)
    else:
        write_input_places.dispatch(ProductPlan)(plan, out)


@activations_of.register
def _activations_of(plan: ImagePlan, p: int, q: int) -> list[Transfer]:
    """Return the transfers that load the slab of cluster q of row p.

    The slab is the part of the image that the cluster's tile needs. There is one transfer for each
    tensor of the image, or one for each image row if the slab has only some of the channels.
    """
    product, size = plan.product, Types.size(plan.types.activation)
    sources = (input_name(plan), SECOND) if product.paired else (input_name(plan),)
    count = len(sources)
    pixel, wide = product.channels * size, product.padded[1] * product.channels * size
    line = plan.slab_columns * plan.slab_channels * size
    m = plan.partition.start("M", p, q) * product.stride[0]
    channel = plan.partition.start(plan.depth, p, q)
    src = m // count * wide + channel * size
    dst = activation_unit(plan, p) + q * plan.slab * size
    owner = owner_name(p, q, activation_grid(plan))
    what = f"{owner}: image from row {m}, channel {channel} on"
    if plan.slab_channels == product.channels:
        return [
            Transfer(
                f"x_tile + {dst + place * line:#x}",
                f"{source} + {src}",
                line,
                plan.slab_rows // count,
                line * count,
                wide,
                what if not place else "",
            )
            for place, source in enumerate(sources)
        ]
    return [
        Transfer(
            f"x_tile + {dst + row * line:#x}",
            f"{sources[row % count]} + {src + row // count * wide}",
            plan.slab_channels * size,
            plan.slab_columns,
            plan.slab_channels * size,
            pixel,
            what if not row else "",
        )
        for row in range(plan.slab_rows)
    ]


@results_of.register
def _results_of(plan: ImagePlan, p: int, q: int) -> list[Transfer]:
    """Return the transfers that store the outputs of cluster q of row p.

    There is one transfer, or one for each row of the tile if tiles are narrower than the image.
    """
    if plan.by_columns:
        return _results_by_columns(plan, p, q)
    product, tile, size = plan.product, plan.tile, Types.size(plan.types.result)
    pitch, pixel = plan.summing_clusters * plan.pes * size, product.y_pitch * size
    wide = product.columns * pixel
    runs = 1 if tile.columns == product.columns else tile.groups
    m, n = plan.partition.start("M", p, q), plan.partition.start("N", p, q) + product.first_column
    what = results_words(plan, p, q)
    return [
        Transfer(
            f"y + {(m + run) * wide + n * size}",
            f"result + {p * UNIT + q * plan.pes * size + run * tile.columns * pitch:#x}",
            tile.n * size,
            tile.outputs // runs,
            pixel,
            pitch,
            what if not run else "",
        )
        for run in range(runs)
    ]


def results_words(plan: ImagePlan, p: int, q: int) -> str:
    """Return the comment that names the row and cluster whose results a transfer copies."""
    (m, m_end), (n, n_end) = plan.part("M", p, q), plan.part("N", p, q)
    return f"{owner_name(p, q, result_grid(plan))}: of O[{m}:{m_end}, :, {n}:{n_end}]"


def _results_by_columns(plan: ImagePlan, p: int, q: int) -> list[Transfer]:
    """Return the transfers of outputs in the layout (channel, column, row).

    There is one transfer if the tile has all columns, else one for each channel.
    """
    product, tile, size = plan.product, plan.tile, Types.size(plan.types.result)
    row, column, channel = (pitch * size for pitch in product.y_pitches)
    start = plan.partition.start("M", p, q) * row + plan.partition.start("N", p, q) * channel
    runs = 1 if tile.columns == product.columns else tile.n
    line = tile.groups * size
    return [
        Transfer(
            f"y + {start + run * channel}",
            f"result + {p * UNIT + (q * plan.pes + run) * tile.outputs * size:#x}",
            line,
            tile.n * tile.columns // runs,
            column,
            line,
            results_words(plan, p, q) if not run else "",
        )
        for run in range(runs)
    ]


@sums_in.register
def _sums_in(plan: ImagePlan) -> list[Transfer]:
    """Return the transfers of the bias into the on-chip units.

    There is one transfer for each row of the array, or a multicast to all rows. If later iterations
    load partial sums, which differ by output position, the transfer writes the bias once for each
    position.
    """
    grid = TransferGrid(plan.start_rows, 1, plan.partition.rows)
    return [
        Transfer(
            f"start + {grid.unit(p):#x}",
            f"start_sums + {p * plan.bias_bytes}",
            plan.bias_bytes,
            plan.start_positions,
            plan.bias_bytes,
            0,
            f"{owner_name(p, q, grid)}: what sums begin with",
        )
        for p, q in grid
    ]
