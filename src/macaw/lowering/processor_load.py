"""Writes cp's code that loads an iteration: it finds the tile and starts the tile's transfers."""

from __future__ import annotations

from macaw.lowering.finishing import factor_bytes
from macaw.lowering.listing import Listing
from macaw.lowering.mapping import WEIGHT
from macaw.lowering.plan import ProductPlan
from macaw.lowering.processor_registers import INDEX, START
from macaw.lowering.row_program import (
    finishing_lists,
    has_entry_part,
    list_names,
    shifts_products,
)
from macaw.lowering.slab_padding import padded_slabs, write_padded_loads, write_padded_rows
from macaw.lowering.transfers import activations_in, sums_in, weights_in


def load_parts(plan: ProductPlan, *, shared: bool) -> dict[str, Listing]:
    """Return the parts of cp's subroutine `load` by name, in their order.

    The subroutine starts the transfers of the next iteration's tile. If `shared`, layers with
    different numbers of tiles can use the code, so it does not depend on these numbers.
    """
    tile, choice, place = Listing(), Listing(), Listing()
    sums, factors, held, activations, rows = (Listing() for _ in range(5))
    loaded, weights, ready = Listing(), Listing(), Listing()
    tile.comment()
    tile.comment("Bring the data of iteration (m, n, k) to the half of frame s8.")
    tile.comment("s11: its list; s7: how much of the list's beginning is left out.")
    tile.put("", label="load")
    if plan.columns:
        _image_start(tile, plan, shared)
    for dim in "NK" if plan.columns else "MNK":
        _tile_start(tile, plan.count(dim) > 1 or shared, dim, INDEX[dim], START[dim])
    _choose_list(choice, plan)
    _place_of_outputs(place, plan)
    if plan.has_start_sums:
        _load_sums(sums, plan)
    if factor_bytes(plan):
        _load_factors(factors, plan)
    if plan.holds_activations:
        held.block("bnez s3, loaded # activations stay in the PEs for all n")
    slabs = padded_slabs(plan)
    if slabs is not None:
        write_padded_loads(activations, slabs.plan)
        write_padded_rows(rows, slabs.plan)
    else:
        _load_unpadded(activations, plan)
    loaded.put("", label="loaded")
    keeps_weights = plan.mapping is WEIGHT and plan.count("M") > 2
    if keeps_weights:
        loaded.block("li t0, 2 # each half keeps its weights for all m\nbge s2, t0, 9f")
    _load_weights(weights, plan)
    if keeps_weights:
        ready.block("9:")
    ready.block(
        """
        add s11, s11, s7
        sw s11, LIST(s8)
        ret
        """
    )
    return {
        "tile": tile,
        "list": choice,
        "place": place,
        "sums": sums,
        "factors": factors,
        "held": held,
        "activations": activations,
        "rows": rows,
        "loaded": loaded,
        "weights": weights,
        "ready": ready,
    }


def _image_start(out: Listing, plan: ProductPlan, shared: bool) -> None:
    """Write cp's code that computes where a tile of an image begins.

    Register t3 gets the tile's first output row, counted from the start of the cluster's part, and
    s6 the tile's first output column. If `shared`, the code does not depend on the numbers of
    tiles.
    """
    index = INDEX["M"]
    if plan.images > 1:
        index = "t6"
        out.block(
            f"""
        li t0, IMAGE_TILES # tiles of an image
        divu a7, {INDEX["M"]}, t0 # the image
        remu {index}, {INDEX["M"]}, t0
            """
        )
    if plan.columns == 1:
        _tile_start(out, plan.count("M") > plan.images or shared, "M", index, "t3")
        out.put("li s6, 0", "a tile has all columns")
        return
    out.block(
        f"""
        li t0, COLUMNS # tiles side by side
        divu t1, {index}, t0
        remu t2, {index}, t0
        """
    )
    _tile_start(out, True, "M", "t1", "t3")
    _tile_start(out, True, "X", "t2", "s6")


def _tile_start(out: Listing, several: bool, dim: str, index: str, register: str) -> None:
    if not several:
        out.put(f"li {register}, 0", f"there is one tile in {dim}")
        return
    out.block(
        f"""
        li t0, TILE_{dim}
        mul {register}, {index}, t0
        li t0, LAST_{dim} # the last tile begins earlier rather than being shorter
        ble {register}, t0, 1f
        mv {register}, t0
1:
        """
    )


def _choose_list(out: Listing, plan: ProductPlan) -> None:
    more, last = list_names(plan)
    out.block(f"la s11, {more}\nli a6, {'PARTIAL' if plan.returns_sums else 'NOTHING'}\nli s7, 0")
    out.block("li t0, TILES_K - 1\nbne s4, t0, 1f")
    if more != last:
        out.block(f"la s11, {last}")
    out.block("li a6, RESULTS\n1: sw a6, STORE(s8)")
    if has_entry_part(plan):
        index = INDEX["N" if plan.holds_activations else "K"]
        reason = (
            "the PEs have the activations"
            if plan.holds_activations
            else "the accumulators hold sums"
        )
        out.block(f"beqz {index}, 2f # {reason}\nli s7, {last}_again - {last}\n2:")


def _place_of_outputs(out: Listing, plan: ProductPlan) -> None:
    """Write cp's code that computes where the tile's outputs begin in y.

    The subroutine `store` later uses this offset. If the tile has partial sums to store, the offset
    is their place instead.
    """
    out.block(
        f"""
        li t0, Y_ROW
        mul a5, {START["M"]}, t0
        li t0, Y_DEPTH
        mul t0, {START["N"]}, t0
        add a5, a5, t0
        """
    )
    if plan.columns > 1:
        out.block("li t0, Y_COLUMN\nmul t0, s6, t0\nadd a5, a5, t0")
    if plan.images > 1:
        out.block("li t0, Y_IMAGE\nmul t0, a7, t0\nadd a5, a5, t0")
    if plan.returns_sums and not plan.keeps_sums_on_chip:
        out.block(
            f"""
        li t0, RESULTS
        beq a6, t0, 3f
        li a5, SUMS * ROWS
        mul a5, a5, {INDEX[plan.mapping.inner]}
3:
            """
        )
    out.put("sw a5, PLACE(s8)")


def _load_sums(out: Listing, plan: ProductPlan) -> None:
    """Write cp's code that loads the values with which sums start.

    These are a bias for the first tile of inputs (k = 0), and afterwards partial sums.
    """
    away = plan.returns_sums and not plan.keeps_sums_on_chip
    out.block(f"bnez s4, {'4f' if away else '6f'}")
    if plan.columns:
        out.block("li a2, BIAS\nmul a2, a2, s3")
    else:
        out.block("la t0, start_sums")
    if plan.product.bias is not None and not plan.columns:
        out.block(f"li t1, STARTS * {plan.start_rows}\nmul t1, t1, s3\nadd t0, t0, t1")
    if away:
        out.block(
            f"""
        j 5f
4:      la t0, partial_sums # what an iteration before has left there
        li t1, SUMS * ROWS
        mul t1, t1, {INDEX[plan.mapping.inner]}
        add t0, t0, t1
            """
        )
    if plan.columns:
        _move_in(out, "START", len(sums_in(plan)), "7")
    else:
        out.block(f"{'5:' if away else ''} lw a0, START(s8)\nsw t0, SRC(a0)\ndma.copy zero, a0")
    if not away:
        out.block("6:")


def _load_factors(out: Listing, plan: ProductPlan) -> None:
    """Write cp's code that loads the factors (scales, table) of the tile's outputs.

    If only iterations that make results use factors, the code loads none in an iteration that
    stores partial sums.
    """
    if list_names(plan)[0] not in finishing_lists(plan):
        out.block("li t0, RESULTS\nlw t1, STORE(s8)\nbne t0, t1, 6f # raw sums stay")
    out.block(f"li a2, {factor_bytes(plan)} * ROWS\nmul a2, a2, s3")
    _move_in(out, "FACTORS", 1, "7")
    if list_names(plan)[0] not in finishing_lists(plan):
        out.block("6:")


def _move_in(out: Listing, transfers: str, count: int, label: str) -> None:
    """Write cp's code that starts `count` transfers of one table.

    cp has a frame of words for each half of the on-chip units. The word called `transfers` in the
    frame has the table's address; `label` is the label of the code's loop. The code sets the source
    address of each transfer to its value for the first tile (BASE) plus the offset in a2.
    """
    out.block(
        f"""
        lw a0, {transfers}(s8)
        li a1, {count}
{label}: lw t0, BASE(a0)
        add t0, t0, a2
        sw t0, SRC(a0)
        dma.copy zero, a0
        addi a0, a0, NEXT
        addi a1, a1, -1
        bnez a1, {label}b
        """
    )


def _load_unpadded(out: Listing, plan: ProductPlan) -> None:
    """Write cp's code that loads activations, if the on-chip units add no padding.

    The source addresses of all transfers then change by the same offset from tile to tile.
    """
    out.block(
        f"""
        li t0, X_ROW
        mul a2, {START["M"]}, t0
        li t0, X_DEPTH
        mul t0, {START[plan.depth]}, t0
        add a2, a2, t0
        """
        if plan.depth != "K" or not plan.input_offsets
        else f"li t0, X_ROW\nmul a2, {START['M']}, t0"
    )
    if plan.input_offsets:
        out.block(
            f"""
        la t0, input_offsets # by part of the kernel and tile of inputs
        slli t1, {INDEX["K"]}, 2
        add t0, t0, t1
        lw t0, 0(t0)
        add a2, a2, t0
            """
        )
    if plan.columns > 1:
        out.block("li t0, X_COLUMN\nmul t0, s6, t0\nadd a2, a2, t0")
    if plan.images > 1:
        out.block("li t0, X_IMAGE\nmul t0, a7, t0\nadd a2, a2, t0")
    _move_in(out, "X", len(activations_in(plan)), "7")


def _load_weights(out: Listing, plan: ProductPlan) -> None:
    transfers = len(weights_in(plan))
    out.block(
        f"""
        li t0, TILES_K # the tile's place in the table of weights
        mul t0, t0, s3
        add t0, t0, s4
        li t1, {8 * transfers}
        mul t0, t0, t1
        la a3, weight_table
        add a3, a3, t0
        lw a0, W(s8)
        lw a4, HALF(s8) # the list in the unit of row 0
        add a4, a4, s11
        li a5, UNIT
        li a1, {transfers}
        dma.wait s10 # the packets have come
7:      lw t0, 0(a3)
        sw t0, SRC(a0)
        lw t1, 4(a3)
        sw t1, BYTES(a0)
        dma.copy zero, a0
        li a6, {plan.partition.rows // transfers} # rows that these weights are for
8:
        """
    )
    more, last = list_names(plan)
    for group in range(plan.products):
        if shifts_products(plan):
            out.block(
                f"""
        li t6, {more}_product{group} - {more} + WEIGHT_BYTES
        lw t0, STORE(s8)
        addi t0, t0, -RESULTS
        bnez t0, 9f
        li t6, {last}_product{group} - {last} + WEIGHT_BYTES # after the factors' packet
9:
                """
            )
        else:
            out.block(f"li t6, {last}_product{group} - {last} + WEIGHT_BYTES")
        out.block(
            """
        add t6, t6, a4
        sw t1, 0(t6)
            """
        )
    out.block(
        """
        add a4, a4, a5
        addi a6, a6, -1
        bnez a6, 8b
        addi a0, a0, NEXT
        addi a3, a3, 8
        addi a1, a1, -1
        bnez a1, 7b
        """
    )
