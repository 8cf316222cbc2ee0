"""The rows' part of a lowered convolution, and what the dma moves for it."""

from __future__ import annotations

from macaw.isa.pe import BLOCKS
from macaw.lowering.cluster_reduction import join_arrays, join_exes, join_sequences, merge_exes
from macaw.lowering.image_plan import ImagePlan
from macaw.lowering.operation import Types
from macaw.lowering.row_program import (
    FINAL,
    HOLD,
    PRODUCT,
    Array,
    Exe,
    Packets,
    Sequence,
    arrays,
    list_names,
    lists,
    sequences,
    to_clusters,
)
from macaw.lowering.transfers import (
    UNIT,
    Transfer,
    activating,
    activations_of,
    padding,
    results_of,
    sums_in,
    who,
)


@arrays.register
def _arrays(plan: ImagePlan) -> list[Array]:
    tile, types, part = plan.tile, plan.types, plan.partition
    clusters = 1 if plan.shares_activations else part.clusters
    plane = (plan.slab_rows, plan.slab_columns, plan.slab_channels)
    sums = (tile.outputs, plan.summing * plan.pes)
    tiles = [
        Array("x_tile", types.operand, (clusters, *plane), "(cluster, row, column, channel)"),
        Array("w_tile", "uint8", (int(plan.weight_bytes.max()),), "index + value"),
    ]
    if plan.begins:
        tiles.append(start_array(plan))
    if plan.returns or plan.joins_rows:
        tiles.append(Array("partial", types.sum, sums, "raw sums: (output position, PE)"))
    return [*tiles, *join_arrays(plan), result_array(plan)]


def start_array(plan: ImagePlan) -> Array:
    """What the sums of a tile begin with."""
    what = "what sums begin with: (output position, PE)"
    if plan.starts == 1:
        what = "what the sums of all output positions begin with: (1, PE)"
    return Array("start", plan.types.sum, (plan.starts, plan.summing * plan.pes), what)


def result_array(plan: ImagePlan) -> Array:
    """The results of a tile."""
    shape, what = (plan.tile.outputs, plan.summing * plan.pes), "(output position, PE)"
    if plan.by_columns:
        shape, what = shape[::-1], "(PE, output position)"
    return Array("result", plan.types.result, shape, what)


@sequences.register
def _sequences(plan: ImagePlan) -> list[Sequence]:
    result = []
    if plan.holds:
        result.append(Sequence("hold", HOLD, ["ld activations"], what="the slab stays in the PEs"))
    body = [] if plan.holds else ["ld activations"]
    body.append("ld weights")
    if plan.begins_here:
        # Results fill the blocks before; what one segment has brought stays for all positions.
        body.append(f"ld psums, base={BLOCKS - 1}")
    body += ["mac base=0, acc=0", "spu nonsf, src=0, dst=0"]
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
    return result + final_sequences(plan)


def final_sequences(plan: ImagePlan) -> list[Sequence]:
    """Activation, requantisation and store of the sums of all output positions."""
    product, header, body = plan.product, "", []
    if product.activation != "none":
        header += f", activation={product.activation}"
        body.append("spu activation, src=0, dst=0")
    if product.shift is not None:
        header += f", shift={product.shift}"
        body.append("spu requantise, src=0, dst=0")
    body.append("st base=0")
    what = "all output positions at once"
    if plan.joined:
        raw = Sequence("final", FINAL, body[-1:], what=what)
        return [raw, *join_sequences(plan, header, body)]
    return [Sequence("final", FINAL, body, header, what)]


@lists.register
def _lists(plan: ImagePlan) -> list[Packets]:
    more, last = list_names(plan)
    result = []
    if more != last:
        result.append(Packets(more, _exes(plan, more, raw=True), "before the last k"))
    result.append(Packets(last, _exes(plan, last, raw=plan.joins_rows), "the last k"))
    if plan.joins_rows:
        result.append(Packets("merge", list(merge_exes(plan)), "row 0, when all rows are done"))
    return result


def _exes(plan: ImagePlan, name: str, raw: bool) -> list[Exe]:
    """What an iteration does; its sums leave `raw` or as results."""
    to = to_clusters(plan, range(plan.partition.clusters))
    slab = "x_tile" if plan.shares_activations else "x_tile by_cluster"
    weights = f"weights w_tile {'by_pe' if plan.shares_weights else 'sliced'}"
    exes = []
    label = f"{name}_product0"
    if plan.holds:
        exes.append(Exe(HOLD, (slab,), to=to, what="not if the PEs have it"))
        label = f"{name}_again: {label}"
    data = [weights] if plan.holds else [slab, weights]
    if plan.begins_here:
        data += [f"psums start[{place}] sliced" for place in range(plan.starts)]
    target = "chain" if plan.joins_clusters else "partial" if raw else "result"
    flag = "last" if target == "result" else "shift"
    exes.append(Exe(PRODUCT, tuple(data), out_words(plan, target), to, flag, label))
    if plan.joins_clusters:
        exes += join_exes(plan, raw)
    return exes


def out_words(plan: ImagePlan, target: str) -> str:
    """Where sums or results go: by output position, or PE by PE if channels shall be outermost."""
    size, outputs = Types.size(plan.types.result), plan.tile.outputs
    if target == "result" and plan.by_columns:
        return f"result[0], stride={outputs * size}, step={size}, count={outputs}"
    size = size if target == "result" else Types.size(plan.types.sum)
    return f"{target}[0], stride={size}, step={plan.slots * size}, count={outputs}"


# Transfers


@padding.register
def _padding(plan: ImagePlan) -> list[Transfer]:
    """x into its frame; channel by channel if they are outermost."""
    product, size = plan.product, Types.size(plan.types.operand)
    row, column, channel = (pitch * size for pitch in product.x_pitches)
    place = product.padding[0] * row + product.padding[1] * column
    what = "x into its frame of zeros"
    if product.layout == "hwc":
        line = product.width * column
        return [Transfer(f"padded + {place}", "x", line, product.height, row, line, what)]
    line, plane = product.height * size, product.height * product.width * size
    return [
        Transfer(
            f"padded + {place + item * channel}",
            f"x + {item * plane}",
            line,
            product.width,
            column,
            line,
            what if not item else "",
        )
        for item in range(product.channels)
    ]


@activations_of.register
def _activations_of(plan: ImagePlan, p: int, q: int) -> list[Transfer]:
    """A slab; with a part of the channels, row by row of the image."""
    product, size = plan.product, Types.size(plan.types.operand)
    source = "padded" if plan.pads else "x"
    pixel, wide = product.channels * size, product.padded[1] * product.channels * size
    line = plan.slab_columns * plan.slab_channels * size
    m = plan.partition.start("M", p, q) * product.stride[0]
    channel = plan.partition.start(plan.depth, p, q)
    src = m * wide + channel * size
    dst = p * UNIT + q * plan.slab * size
    what = f"{who(p, q, activating(plan).clusters)}: image from row {m}, channel {channel} on"
    if plan.slab_channels == product.channels:
        target, start = f"x_tile + {dst:#x}", f"{source} + {src}"
        return [Transfer(target, start, line, plan.slab_rows, line, wide, what)]
    return [
        Transfer(
            f"x_tile + {dst + row * line:#x}",
            f"{source} + {src + row * wide}",
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
    """The outputs of a cluster; of tiles narrower than the image, row by row."""
    if plan.by_columns:
        return _results_by_columns(plan, p, q)
    product, tile, size = plan.product, plan.tile, Types.size(plan.types.result)
    pitch, wide = plan.summing * plan.pes * size, product.columns * product.n * size
    runs = 1 if tile.columns == product.columns else tile.groups
    m, n = plan.partition.start("M", p, q), plan.partition.start("N", p, q)
    what = results_words(plan, p, q)
    return [
        Transfer(
            f"y + {(m + run) * wide + n * size}",
            f"result + {p * UNIT + q * plan.pes * size + run * tile.columns * pitch:#x}",
            tile.n * size,
            tile.outputs // runs,
            product.n * size,
            pitch,
            what if not run else "",
        )
        for run in range(runs)
    ]


def results_words(plan: ImagePlan, p: int, q: int) -> str:
    """Whose results a transfer takes out."""
    (m, m_end), (n, n_end) = plan.part("M", p, q), plan.part("N", p, q)
    return f"{who(p, q, plan.summing)}: of O[{m}:{m_end}, :, {n}:{n_end}]"


def _results_by_columns(plan: ImagePlan, p: int, q: int) -> list[Transfer]:
    """The same, (channel, column, row): all channels at once if the tile has all columns."""
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
    """A row's bias; if others come back with partial sums, to each output position."""
    return [
        Transfer(
            f"start + {p * UNIT:#x}",
            f"start_sums + {p * plan.bias_bytes}",
            plan.bias_bytes,
            plan.starts,
            plan.bias_bytes,
            0,
            f"row {p}: what sums begin with",
        )
        for p in range(plan.partition.rows)
    ]
