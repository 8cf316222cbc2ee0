"""Plans the transfers of the dma in an iteration, and writes them into the data of cp's part.

The command processor (cp) starts the transfers. Its data also has, for each half of the on-chip
units, a frame: words with what cp knows of this half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch

from macaw.isa import memory_map
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import ENTRY, WEIGHTS_RECORD
from macaw.lowering.convolution import PointwiseProduct
from macaw.lowering.finishing import SCALE, TABLE, factor_bytes
from macaw.lowering.listing import Listing
from macaw.lowering.operation import Types
from macaw.lowering.plan import ProductPlan
from macaw.lowering.repetitions import repeated

UNIT = 1 << memory_map.UNIT_SHIFT
PONG = 1 << memory_map.HALF_SHIFT
_HERE = r" + \here"  # added to addresses in the half whose transfers a macro writes
# added to an address for each row after the first: the transfer also goes to that row's unit
FURTHER_UNIT = 1 << memory_map.MORE_SHIFT
WEIGHT_TENSOR = "weight_tensor"  # label of the tensor from which weights are read
SECOND = "x_second"  # label of the second tensor of a pair
COPY = "x_copy"  # label of the copy of x in external memory
# Comments of transfers of sums.
BEGIN = "what sums begin with"
AWAY = "raw sums to external memory"
CARRY = "raw sums to the other half"
GATHER = "raw sums of all rows to row 0"


@dataclass(frozen=True)
class Transfer:
    """A transfer of the dma, with its addresses for the first iteration and half 0 of the units.

    The transfer moves `rows` rows of `row_bytes` bytes; strides are in bytes. Addresses and numbers
    may be expressions of the assembly language. `what` is the comment in the source.
    """

    dst: str
    src: str
    row_bytes: int | str
    rows: int | str = 1
    dst_stride: int | str = 0
    src_stride: int | str = 0
    what: str = ""


@dataclass(frozen=True)
class TransferGrid:
    """The rows and clusters of the array for which the dma makes separate transfers.

    There is one transfer for each of `rows` rows and each of `clusters` clusters in a row. All have
    the same shape. Iteration over the grid yields a pair (row, cluster) for each transfer. If
    `rows` is 1 and `of_rows` larger, each transfer is a multicast to the on-chip units of `of_rows`
    rows.
    """

    rows: int
    clusters: int
    of_rows: int = 1

    @property
    def multicasts(self) -> bool:
        """Whether each transfer brings its bytes to several on-chip units."""
        return self.rows == 1 < self.of_rows

    def unit(self, p: int) -> int:
        """Return the offset from an address in on-chip unit 0 to the same address in row p's unit.

        For a multicast, the offset gives the address that means the units of all rows.
        """
        return (self.of_rows - 1) * FURTHER_UNIT if self.multicasts else p * UNIT

    def __len__(self) -> int:
        return self.rows * self.clusters

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return ((p, q) for p in range(self.rows) for q in range(self.clusters))


def activation_grid(plan: ProductPlan) -> TransferGrid:
    """Return the rows and clusters whose activations need a separate transfer into the units.

    There is one row (a multicast) if all rows use the same activations, and one cluster in a row if
    all clusters of the row do.
    """
    clusters = 1 if plan.shares_activations else plan.partition.clusters
    rows = plan.partition.rows
    return TransferGrid(1 if plan.rows_share_activations else rows, clusters, rows)


def activation_unit(plan: ProductPlan, p: int) -> int:
    """Return the offset from an address in on-chip unit 0 to the target of row p's activations.

    The target is the same address in row p's unit, or for a multicast the address that means the
    units of all rows.
    """
    return activation_grid(plan).unit(p)


def result_grid(plan: ProductPlan) -> TransferGrid:
    """Return the rows and clusters whose results need a separate transfer to external memory.

    There is one row if row 0 adds the sums of all rows, and one cluster in a row if cluster 0 adds
    the sums of the row's clusters.
    """
    return TransferGrid(1 if plan.reduces_rows else plan.partition.rows, plan.summing_clusters)


def activations_in(plan: ProductPlan) -> list[Transfer]:
    """Return the transfers of an iteration's activations from x into the on-chip units."""
    items = [item for p, q in activation_grid(plan) for item in activations_of(plan, p, q)]
    return sorted(items, key=lambda item: item.src.startswith(SECOND))


def results_out(plan: ProductPlan) -> list[Transfer]:
    """Return the transfers of an iteration's results from the on-chip units to y."""
    return [item for p, q in result_grid(plan) for item in results_of(plan, p, q)]


@singledispatch
def write_activations(plan: ProductPlan, out: Listing, name: str, add: str) -> None:
    """Write the table `name` of the transfers that load activations.

    `add` is text that is appended to each target address; it adds the offset of a half of the
    on-chip units.
    """
    _put(out, name, activations_in(plan), add, "", base="src")


@singledispatch
def activations_of(plan: ProductPlan, p: int, q: int) -> list[Transfer]:
    """Return the transfers that bring activations to cluster q of row p."""
    size = Types.size(plan.types.activation)
    grid = activation_grid(plan)
    tile, k = plan.tile, plan.product.k
    m, m_end = plan.part("M", p, q)
    first, end = plan.part("K", p, q)
    return [
        Transfer(
            f"x_tile + {grid.unit(p) + q * tile.k * size:#x}",
            f"{input_name(plan)} + {(m * k + first) * size}",
            tile.k * size,
            tile.m,
            grid.clusters * tile.k * size,
            k * size,
            f"{owner_name(p, q, grid)}: of I[{m}:{m_end}, {first}:{end}]",
        )
    ]


def weight_transfers(plan: ProductPlan) -> int:
    """Return the number of transfers of weights: one for each row, or one if rows share them."""
    return 1 if plan.rows_share_weights else plan.partition.rows


def weights_in(plan: ProductPlan) -> list[Transfer]:
    """Return the transfers of an iteration's weights; `weight_transfers` is their number.

    cp sets their source addresses and bytes from the table of weights before it starts them.
    """
    if plan.rows_share_weights:
        return [Transfer("w_tile + EVERY_UNIT", "w", 0, what=f"all rows: {_weights(plan, 0)}")]
    return [
        Transfer(f"w_tile + {p * UNIT:#x}", "w", 0, what=f"row {p}: {_weights(plan, p)}")
        for p in range(plan.partition.rows)
    ]


@singledispatch
def results_of(plan: ProductPlan, p: int, q: int) -> list[Transfer]:
    """Return the transfers that copy the results of cluster q of row p to y."""
    size = Types.size(plan.types.result)
    tile, pitch = plan.tile, plan.product.y_pitch
    m, m_end = plan.part("M", p, q)
    first, end = plan.part("N", p, q)
    return [
        Transfer(
            f"y + {(m * pitch + plan.product.first_column + first) * size}",
            f"result + {p * UNIT + q * plan.pes * size:#x}",
            tile.n * size,
            tile.m,
            pitch * size,
            plan.summing_clusters * plan.pes * size,
            f"{owner_name(p, q, result_grid(plan))}: of O[{m}:{m_end}, {first}:{end}]",
        )
    ]


def input_name(plan: ProductPlan) -> str:
    """Return the label of the array from which activations are loaded: x, or a copy of it."""
    return COPY if plan.copies_input else "x"


@singledispatch
def input_copies(plan: ProductPlan) -> list[Transfer]:
    """Return the transfers that first copy x to another place in external memory.

    The copy has x with padding, or only those pixels of x that a stride does not leave out.
    """
    product, size = plan.product, Types.size(plan.types.activation)
    if not isinstance(product, PointwiseProduct):
        return []
    image = product.image
    assert image is not None
    row, column, _ = (pitch * size for pitch in image.x_pitches)
    pixel = image.channels * size
    return [
        Transfer(
            f"{COPY} + {(number * image.m + line) * image.columns * pixel}",
            f"x + {number * image.image_pitches[0] * size + line * image.stride[0] * row}",
            pixel,
            image.columns,
            pixel,
            image.stride[1] * column,
            "the pixels that are needed" if not number + line else "",
        )
        for number in range(image.image_count)
        for line in range(image.m)
    ]


def first_copies(plan: ProductPlan) -> list[Transfer]:
    """Return the transfers before the first iteration.

    They copy x if the plan reads activations from a copy (`input_copies`), and weights if these are
    a tensor that the program computes (`weight_copies`). Otherwise the list is empty.
    """
    copies = input_copies(plan) if plan.copies_input else []
    return [*copies, *weight_copies(plan)]


def weight_copies(plan: ProductPlan) -> list[Transfer]:
    """Return the transfers that copy weights from a tensor to the place from which PEs load them.

    This is for products whose weights are a tensor that the program computes; for others the result
    is empty. There is one transfer for each tile of outputs and each cluster with separate weights.
    Such a product has one weight for each channel, and so for each PE. The weight is the last byte
    of its PE's weight data; the transfer writes one such byte for each PE.
    """
    if not plan.product.reads_weights:
        return []
    value = ENTRY.size + WEIGHTS_RECORD.size
    record = value + Types.size(plan.types.weight)
    rows, clusters = plan.weight_owners
    used = plan.tile.n * record + (plan.pes - plan.tile.n) * WEIGHTS_RECORD.size  # bytes
    return [
        Transfer(
            f"w[{index * rows + p}] + {q * used + value}",
            f"{WEIGHT_TENSOR} + {plan.partition.start('N', p, q) + plan.tile_start('N', index)}",
            1,
            plan.tile.n,
            record,
            1,
            "the weights of a cluster" if not (index or p or q) else "",
        )
        for index in range(plan.count("N"))
        for p in range(rows)
        for q in range(clusters)
    ]


@singledispatch
def sums_in(plan: ProductPlan) -> list[Transfer]:
    """Return the transfers of the values with which the sums of an iteration start.

    They are biases or partial sums, and go into the on-chip units.
    """
    if plan.start_rows < plan.partition.rows:
        return [Transfer("start + EVERY_UNIT", "start_sums", "STARTS", what=BEGIN)]
    return [Transfer("start", "start_sums", "STARTS", "ROWS", "UNIT", "STARTS", BEGIN)]


def owner_name(p: int, q: int, grid: TransferGrid) -> str:
    """Return the text by which a comment names the owner of a transfer: `row 1, cluster 0`.

    It has a cluster only if clusters have separate transfers. For multicasts it names all rows.
    """
    row = "all rows" if grid.multicasts else f"row {p}"
    return f"{row}, cluster {q}" if grid.clusters > 1 else row


def _weights(plan: ProductPlan, p: int) -> str:
    """Return which weights the clusters of row p need, in seed 000's notation [inputs, outputs]."""
    clusters = 1 if plan.shares_weights else plan.partition.clusters
    slices = []
    for q in range(clusters):
        k, n = plan.part("K", p, q), plan.part("N", p, q)
        slices.append(f"W[{k[0]}:{k[1]}, {n[0]}:{n[1]}]")
    return "of " + ", ".join(slices)


def write_transfers(
    out: Listing, plan: ProductPlan, first: Sequence[Transfer], *, shared: bool
) -> None:
    """Write the data of cp's local memory: tables of transfers, and a frame for each half.

    A frame has what cp knows about one half of the on-chip units. `first` has the transfers before
    the first iteration. If `shared`, the source is for a layer of a network. The text is then
    divided into sections, which `macaw.lowering.macro_library` replaces by calls of macros. If not
    `shared`, there are also two transfers, one for each half, that copy packets and sequences into
    the on-chip units.
    """
    if shared:
        out.mark("tables")
        out.put(".core cp")
    else:
        out.title("cp's data")
    out.put(".section .data.cp")
    out.put(".balign 4")
    out.comment("Transfers: dst, src, row bytes, rows, dst stride, src stride; for index 0 of all")
    out.comment("loops, and behind it where a tile's place is counted from.")
    if first:
        out.mark("copies")
        _put(out, "copies", first, "", "")
    if shared:
        _write_tables(out, plan)
    else:
        out.put(r".macro half h, here, other", "the transfers of a half, and what cp knows of it")
        image = Transfer("setup + EVERY_UNIT", "load_address(setup)", "x_tile - setup")
        _put(out, r"fill_\h", [image], _HERE, "")
        _write_tables(out, plan)
        out.put(".endm")
        out.put("half ping, 0, PONG")
        out.put("half pong, PONG, 0")
    out.mark("input_places")
    write_input_places(plan, out)
    out.mark("weight_table")
    _write_weight_table(out, plan)
    out.mark()


def _write_tables(out: Listing, plan: ProductPlan) -> None:
    """Write the transfers for one half of the on-chip units, and cp's data about this half."""
    other = r" + \other"
    out.mark("activations")
    write_activations(plan, out, _name("x"), _HERE)
    out.mark("weights")
    _put(out, _name("w"), weights_in(plan), _HERE, "", base="src")
    if plan.has_start_sums:
        out.mark("start")
        _put(out, _name("p"), sums_in(plan), _HERE, "", "src")
    returns = plan.returns_sums and not plan.keeps_sums_on_chip
    if returns:
        out.mark("sums_away")
        away = _sums("partial_sums", "partial", "SUMS", "UNIT", AWAY)
        _put(out, _name("s"), [away], "", _HERE, base="dst")
    if plan.keeps_sums_on_chip:
        out.mark("carry")
        _put(out, _name("c"), [_sums("start", "partial", "UNIT", "UNIT", CARRY)], other, _HERE)
    if plan.reduces_rows:
        out.mark("gather")
        _put(out, _name("g"), [_sums("gathered", "partial", "SUMS", "UNIT", GATHER)], _HERE, _HERE)
    out.mark("results")
    _put(out, _name("y"), results_out(plan), "", _HERE, base="dst")
    if factor_bytes(plan):
        out.mark("factors")
        _put(out, _name("f"), [_factors_in(plan)], _HERE, "", base="src")
    out.mark("frame")
    out.comment("Words LIST to FACTORS of the frame.")
    tables = {
        "x": True,
        "w": True,
        "p": plan.has_start_sums,
        "s": returns,
        "y": True,
        "c": plan.keeps_sums_on_chip,
        "g": plan.reduces_rows,
        "f": factor_bytes(plan) > 0,
    }
    words = [_name(letter) if there else "0" for letter, there in tables.items()]
    out.put(rf".word 0, NOTHING, 0, \here, {', '.join(words)}", label=r"\h")


def _write_weight_table(out: Listing, plan: ProductPlan) -> None:
    """Write the table from which cp takes the address and the bytes of each tile's weights."""
    out.comment()
    rounds = 1 if plan.rows_share_weights else plan.partition.rows
    total = plan.count("N") * plan.count("K") * rounds
    per = "" if rounds == 1 else ", row"
    out.comment(f"Where the weights of each tile lie and their bytes, by (n, k{per}).")
    out.block(
        f"""
        .set tile, 0
weight_table:
        .rept {total}
        .word w[tile], sizeof(w[tile])
        .set tile, tile + 1
        .endr
        """
    )


def _name(letter: str) -> str:
    """Return the label of a table of transfers in the macro that writes the data of a half.

    `letter` names the table, such as "x" for activations or "w" for weights. The label ends with
    the letter.
    """
    return rf"\h\()_{letter}"


@singledispatch
def write_input_places(plan: ProductPlan, out: Listing) -> None:
    """Write the table of the byte offsets in x at which the tiles of inputs (k) begin.

    If cp computes these offsets instead, write nothing.
    """
    if not plan.input_offsets:
        return
    size = Types.size(plan.types.activation)
    out.comment("Where the inputs of each k lie in x, in bytes from those of the first one.")
    out.put("", label="input_offsets")
    for offset in plan.input_offsets:
        out.put(f".word {offset * size}")


def _factors_in(plan: ProductPlan) -> Transfer:
    """Return the transfer of the factors (scales, table) of a tile's outputs.

    They go to the rows that turn sums into results.
    """
    first = SCALE if plan.product.scales is not None else TABLE
    size = factor_bytes(plan)
    what = "how sums become results"
    return Transfer(first, "factors", size, "ROWS", "UNIT", size, what)


def _sums(dst: str, src: str, dst_stride: str, src_stride: str, what: str) -> Transfer:
    """Return one transfer that moves the raw sums of all rows from `src` to `dst`.

    The strides are the bytes from row to row; `what` is the transfer's comment.
    """
    return Transfer(dst, src, "SUMS", "ROWS", dst_stride, src_stride, what)


def _put(
    out: Listing,
    label: str,
    transfers: Sequence[Transfer],
    add_dst: str,
    add_src: str,
    base: str = "",
) -> None:
    """Write a table of transfers at a label.

    `add_dst` and `add_src` are text that is appended to the target and source addresses. If `base`
    is "src" or "dst", the record of each transfer ends with a copy of this address: cp computes the
    address for each tile from the copy, and writes it into the transfer.
    """
    lines = []
    for item in transfers:
        dst, src = item.dst + add_dst, item.src + add_src
        words = [dst, src, item.row_bytes, item.rows, item.dst_stride, item.src_stride]
        if base:
            words.append(src if base == "src" else dst)
        lines.append(f".word {', '.join(map(str, words))}")
    for number, fewer in repeated(lines):
        what, several = transfers[number].what, ", and so on" if len(fewer) > 1 else ""
        out.put(fewer[0], what and what + several, label=label)
        for line in fewer[1:]:
            out.put(line)
        label = ""
