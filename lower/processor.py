"""The command processor's part of a lowered product: a loop that loads, swaps and dispatches.

While the array computes iteration i from one half of the units, the dma brings the results of
i - 1 out of the other half and the data of i + 1 into it (seed 000 ¶146). What cp has to know of a
half stands in a frame of words, one for ping and one for pong (lower/transfers.py).
"""

from __future__ import annotations

from isa import registry
from isa.pe import PACKET, SEGMENT
from lower.listing import Listing
from lower.mapping import WEIGHT
from lower.operation import Types
from lower.plan import Plan
from lower.rows import has_again, list_names
from lower.transfers import PONG, UNIT, activations_in, padding, results_out, sums_in, weights_in

INDEX = {"M": "s2", "N": "s3", "K": "s4"}  # the loop counters
_START = {"M": "t3", "N": "t4", "K": "t5"}  # where a tile begins in its part
_NAMES = {"M": "rows of activations", "N": "outputs", "K": "inputs"}
_FRAME = ("LIST", "STORE", "PLACE", "HALF", "X", "W", "START", "SUMS_AWAY", "Y", "CARRY", "GATHER")


def write_processor(out: Listing, plan: Plan) -> None:
    """The code of the part `.core cp`."""
    out.title("the command processor")
    out.put(".core cp")
    _constants(out, plan)
    _loop(out, plan)
    _step(out, plan)
    _load(out, plan)
    _store(out, plan)


def _constants(out: Listing, plan: Plan) -> None:
    mask = (1 << plan.partition.rows) - 1
    first = registry.core("pe").number
    length = SEGMENT.offsets["length"]
    out.put(f".equ ROWS, {plan.partition.rows}")
    out.put(f".equ ALL_ROWS, {mask:#x}", "units and rows, a bit each")
    out.put(f".equ ALL_CORES, {mask:#x} << {first}", f"rows are cores {first} and on")
    out.put(f".equ UNIT, {UNIT:#x}", "from a unit to the next")
    out.put(f".equ PONG, {PONG:#x}", "from a unit's half 0 to its half 1")
    out.put(f".equ STEPS, {plan.steps}", "iterations")
    for dim, what in _NAMES.items():
        out.put(f".equ TILES_{dim}, {plan.count(dim)}", f"tiles of {what} in a cluster's part")
        out.put(f".equ TILE_{dim}, {plan.tile.length(dim)}", f"{what} of a tile")
        last = plan.partition.length(dim) - plan.tile.length(dim)
        out.put(f".equ LAST_{dim}, {last}", "where the last tile begins in its part")
    for name, value in plan.constants.items():
        out.put(f".equ {name}, {value}")
    out.put(f".equ X_SIZE, {Types.size(plan.types.operand)}", "bytes of an activation")
    out.put(f".equ Y_SIZE, {Types.size(plan.types.result)}", "bytes of a result")
    for name, pitch in plan.pitches.items():
        out.put(f".equ {name}, {pitch} * {name[0]}_SIZE")
    out.put(f".equ SUMS, {plan.partial_bytes}", "bytes of a row's raw sums of an iteration")
    where = PACKET.size + plan.weight_segment * SEGMENT.size + length
    out.put(f".equ WEIGHT_BYTES, {where}", "in a product's packet: how many bytes of weights")
    out.comment("Words of a frame; words of a transfer.")
    for place, name in enumerate(_FRAME):
        out.put(f".equ {name}, {4 * place}")
    for place, name in enumerate(("DST", "SRC", "BYTES", "", "", "", "BASE", "NEXT")):
        if name:
            out.put(f".equ {name}, {4 * place}")
    out.comment("What an iteration leaves behind (word STORE).")
    for place, name in enumerate(("NOTHING", "PARTIAL", "RESULTS")):
        out.put(f".equ {name}, {place}")


def _loop(out: Listing, plan: Plan) -> None:
    out.comment()
    out.block(
        f"""
_start: la a0, fill_ping # packets and sequences to both halves of all units
        dma.copy zero, a0
        la a0, fill_pong
        dma.copy zero, a0
        li s0, ALL_ROWS
        li s1, ALL_CORES
        li s2, 0 # m, n and k of the iteration that is loaded
        li s3, 0
        li s4, 0
        li s5, STEPS # iterations that are left to dispatch
        la s8, ping # the frame of the half that loads
        la s9, pong # the frame of the half that feeds
        {_pad(plan) if plan.pads else ""}
        call load
        dma.wait zero
        mem.swap s0
        la a1, setup
        dispatch s0, a1
next:   mv t0, s8
        mv s8, s9
        mv s9, t0
        lw a1, LIST(s9)
        dispatch s0, a1 # iteration i computes
        call store # i - 1 goes out
        addi s5, s5, -1
        beqz s5, done
        call step
        call load # i + 1 comes in
done:   core.wait s1
        dma.wait zero
        """
    )
    if plan.carries:
        _join(out, "PARTIAL", "CARRY", "partial sums for the next iteration, from half to half")
    if plan.joins_rows:
        _join(out, "RESULTS", "GATHER", "the raw sums of all rows to row 0, which adds them")
        out.block(
            """
        la a1, merge
        li t0, 1
        dispatch t0, a1
        core.wait s1
not_RESULTS:
            """
        )
    out.block(
        """
        mem.swap s0
        bnez s5, next
        mv s8, s9
        call store # of the last iteration
        dma.wait zero
        li a0, 0
        li a7, 93
        ecall
        """
    )


def _pad(plan: Plan) -> str:
    count = len(padding(plan))
    if count == 1:
        return "la a0, pad # x into its frame of zeros\ndma.copy zero, a0"
    return f"""
        la a0, pad # x into its frame of zeros, channel by channel
        li a1, {count}
1:      dma.copy zero, a0
        addi a0, a0, BASE # they have no base
        addi a1, a1, -1
        bnez a1, 1b
        """


def _join(out: Listing, store: str, transfer: str, comment: str) -> None:
    """A transfer from unit to unit before the halves swap, if the iteration leaves `store`."""
    out.block(
        f"""
        lw t0, STORE(s9) # {comment}
        li t1, {store}
        bne t0, t1, not_{store}
        lw t0, {transfer}(s9)
        dma.copy zero, t0
        dma.wait zero
        """
    )
    if store == "PARTIAL":
        out.block("not_PARTIAL:")


def _step(out: Listing, plan: Plan) -> None:
    outer, middle, inner = plan.mapping.order
    out.comment()
    loops = ", ".join(plan.mapping.order).lower()
    out.comment(f"The next tile: {plan.mapping.name} stationary, loops {loops} (seed 000 Fig. 7).")
    out.block(
        f"""
step:   addi {INDEX[inner]}, {INDEX[inner]}, 1
        li t0, TILES_{inner}
        blt {INDEX[inner]}, t0, 1f
        li {INDEX[inner]}, 0
        addi {INDEX[middle]}, {INDEX[middle]}, 1
        li t0, TILES_{middle}
        blt {INDEX[middle]}, t0, 1f
        li {INDEX[middle]}, 0
        addi {INDEX[outer]}, {INDEX[outer]}, 1
1:      ret
        """
    )


def _load(out: Listing, plan: Plan) -> None:
    out.comment()
    out.comment("Bring the data of iteration (m, n, k) to the half of frame s8.")
    out.comment("s11: its list; s7: how much of the list's beginning is left out.")
    out.put("", label="load")
    if plan.columns:
        _image_start(out, plan)
    for dim in "NK" if plan.columns else "MNK":
        _tile_start(out, plan.count(dim), dim, INDEX[dim], _START[dim])
    _choose_list(out, plan)
    _place_of_outputs(out, plan)
    if plan.begins:
        _load_sums(out, plan)
    _load_activations(out, plan)
    _load_weights(out, plan)
    out.block(
        """
        add s11, s11, s7
        sw s11, LIST(s8)
        ret
        """
    )


def _image_start(out: Listing, plan: Plan) -> None:
    """Where a tile of an image begins: its row in t3, its column in s6."""
    if plan.columns == 1:
        _tile_start(out, plan.count("M"), "M", "s2", "t3")
        out.put("li s6, 0", "a tile has all columns")
        return
    out.block(
        """
        li t0, COLUMNS # tiles side by side
        divu t1, s2, t0
        remu t2, s2, t0
        """
    )
    _tile_start(out, 2, "M", "t1", "t3")
    _tile_start(out, 2, "X", "t2", "s6")


def _tile_start(out: Listing, count: int, dim: str, index: str, register: str) -> None:
    if count == 1:
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


def _choose_list(out: Listing, plan: Plan) -> None:
    more, last = list_names(plan)
    out.block(f"la s11, {more}\nli a6, {'PARTIAL' if plan.returns else 'NOTHING'}\nli s7, 0")
    out.block("li t0, TILES_K - 1\nbne s4, t0, 1f")
    if more != last:
        out.block(f"la s11, {last}")
    out.block("li a6, RESULTS\n1: sw a6, STORE(s8)")
    if has_again(plan):
        index = INDEX["N" if plan.holds else "K"]
        kept = "the PEs have the activations" if plan.holds else "the accumulators hold sums"
        out.block(f"beqz {index}, 2f # {kept}\nli s7, {last}_again - {last}\n2:")


def _place_of_outputs(out: Listing, plan: Plan) -> None:
    """What `store` adds to the outputs' places for index 0."""
    out.block(
        f"""
        li t0, Y_ROW
        mul a5, {_START["M"]}, t0
        li t0, Y_DEPTH
        mul t0, {_START["N"]}, t0
        add a5, a5, t0
        """
    )
    if plan.columns > 1:
        out.block("li t0, Y_COLUMN\nmul t0, s6, t0\nadd a5, a5, t0")
    if plan.returns and not plan.carries:
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


def _load_sums(out: Listing, plan: Plan) -> None:
    """Bring what sums begin with: a bias at k = 0, partial sums afterwards."""
    away = plan.returns and not plan.carries
    out.block(f"bnez s4, {'4f' if away else '6f'}")
    if plan.columns:
        out.block("li a2, BIAS\nmul a2, a2, s3")
    else:
        out.block("la t0, start_sums")
    if plan.product.bias is not None and not plan.columns:
        out.block("li t1, SUMS * ROWS\nmul t1, t1, s3\nadd t0, t0, t1")
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


def _move_in(out: Listing, transfers: str, count: int, label: str) -> None:
    """Start the transfers of a frame from their places for index 0 plus a2."""
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


def _load_activations(out: Listing, plan: Plan) -> None:
    if plan.holds:
        out.block("bnez s3, 8f # they stay in the PEs for all n")
    out.block(
        f"""
        li t0, X_ROW
        mul a2, {_START["M"]}, t0
        li t0, X_DEPTH
        mul t0, {_START[plan.depth]}, t0
        add a2, a2, t0
        """
    )
    if plan.columns > 1:
        out.block("li t0, X_COLUMN\nmul t0, s6, t0\nadd a2, a2, t0")
    _move_in(out, "X", len(activations_in(plan)), "7")
    if plan.holds:
        out.block("8:")


def _load_weights(out: Listing, plan: Plan) -> None:
    transfers = len(weights_in(plan))
    kept = plan.mapping is WEIGHT and plan.count("M") > 2
    if kept:
        out.block("li t0, 2 # each half keeps its weights for all m\nbge s2, t0, 9f")
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
7:      lw t0, 0(a3)
        sw t0, SRC(a0)
        lw t1, 4(a3)
        sw t1, BYTES(a0)
        dma.copy zero, a0
        li a6, {plan.partition.rows // transfers} # rows that these weights are for
8:
        """
    )
    _more, last = list_names(plan)
    for group in range(plan.products):
        out.block(
            f"""
        li t6, {last}_product{group} - {last} + WEIGHT_BYTES
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
    if kept:
        out.block("9:")


def _store(out: Listing, plan: Plan) -> None:
    """Take out what an iteration has left."""
    out.comment()
    out.comment("Take out what the iteration of frame s8 has left.")
    out.block(
        """
store:  lw t0, STORE(s8)
        lw a2, PLACE(s8)
        li t1, RESULTS
        beq t0, t1, 2f
        """
    )
    back = plan.returns and not plan.carries
    if back:
        out.block(
            """
        li t1, PARTIAL
        bne t0, t1, 1f
        lw a0, SUMS_AWAY(s8)
        li a1, 1
        j 3f
1:
            """
        )
    out.block(
        f"""
        ret
2:      lw a0, Y(s8)
        li a1, {len(results_out(plan))}
3:      lw t0, BASE(a0)
        add t0, t0, a2
        sw t0, DST(a0)
        dma.copy zero, a0
        addi a0, a0, NEXT
        addi a1, a1, -1
        bnez a1, 3b
        ret
        """
    )
