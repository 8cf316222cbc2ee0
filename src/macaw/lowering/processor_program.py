"""Writes the code of the command processor: a loop that loads, swaps and dispatches.

While the array computes iteration i from one half of the on-chip units, the dma uses the other
half. The dma copies the results of iteration i - 1 out of that half, and the data of iteration
i + 1 into that half (seed 000 ¶146). For each half, ping and pong, cp has a frame: words with the
data about this half (`macaw.lowering.transfers`).
"""

from __future__ import annotations

from collections.abc import Sequence

from macaw.isa import registry
from macaw.isa.pe import PACKET, SEGMENT
from macaw.lowering.listing import Listing
from macaw.lowering.operation import Types
from macaw.lowering.plan import ProductPlan
from macaw.lowering.processor_load import load_parts
from macaw.lowering.processor_registers import INDEX
from macaw.lowering.progress import PROGRESS
from macaw.lowering.transfers import (
    FURTHER_UNIT,
    PONG,
    UNIT,
    Transfer,
    first_copies,
    results_out,
)
from macaw.lowering.unused_sums import zero_fills

_NAMES = {"M": "rows of activations", "N": "outputs", "K": "inputs"}
_FRAME = (
    "LIST",
    "STORE",
    "PLACE",
    "HALF",
    "X",
    "W",
    "START",
    "SUMS_AWAY",
    "Y",
    "CARRY",
    "GATHER",
    "FACTORS",
)


def write_processor(out: Listing, plan: ProductPlan) -> None:
    """Write the part of the command processor (`.core cp`): its constants and its code."""
    out.title("the command processor")
    out.put(".core cp")
    for name, (value, comment) in processor_constants(plan).items():
        out.put(f".equ {name}, {value}", comment)
    write_fixed_constants(out)
    write_code(out, plan)


def write_code(out: Listing, plan: ProductPlan) -> None:
    """Write the code of the command processor for a whole program."""
    for part in code_parts(plan, shared=False, reports=False).values():
        out.append(part)


def code_parts(plan: ProductPlan, *, shared: bool, reports: bool) -> dict[str, Listing]:
    """Return the parts of cp's code by name, in their order. The code is a program or a subroutine.

    If `shared`, the code is a subroutine that layers with different numbers of tiles can use. Its
    entry is its first line, and it does not change s10. The caller ensures three conditions. The
    on-chip units have the packets and sequences. No transfer and no row is active. Half 0 is the
    half that does not feed the rows. If `reports`, the code writes how many iterations are left
    (`macaw.lowering.progress`).
    """
    first = first_copies(plan) + (zero_fills(plan) if shared else [])
    enter, copies, loop, after, leave, step, store = (Listing() for _ in range(7))
    enter.comment()
    enter.block(_ENTER_SUBROUTINE if shared else _ENTER_PROGRAM)
    enter.block(_FIRST_ITERATION)
    copies.block(_first_transfers(first))
    loop.block(_ITERATION)
    if reports:
        after.block(f"la t0, {PROGRESS}\nsw s5, 0(t0)")
    _move_sums(after, plan)
    _leave(leave, shared=shared, reports=reports)
    _step(step, plan)
    _store(store, plan)
    return {
        "enter": enter,
        "copies": copies,
        "loop": loop,
        "after": after,
        "leave": leave,
        "step": step,
        **load_parts(plan, shared=shared),
        "store": store,
    }


def processor_constants(plan: ProductPlan) -> dict[str, tuple[str, str]]:
    """Return the constants of cp's code that depend on the plan: (value, comment) by name."""
    mask = (1 << plan.partition.rows) - 1
    first = registry.core("pe").number
    multicast = (plan.partition.rows - 1) * FURTHER_UNIT
    result = {
        "ROWS": (f"{plan.partition.rows}", ""),
        "ALL_ROWS": (f"{mask:#x}", "units and rows, a bit each"),
        "ALL_CORES": (f"{mask:#x} << {first}", f"rows are cores {first} and on"),
        "EVERY_UNIT": (f"{multicast:#x}", "added to a destination: to all units"),
        "STEPS": (f"{plan.steps}", "iterations"),
    }
    for dim, what in _NAMES.items():
        tile, last = plan.tile.length(dim), plan.partition.length(dim) - plan.tile.length(dim)
        result[f"TILES_{dim}"] = (f"{plan.count(dim)}", f"tiles of {what} in a cluster's part")
        result[f"TILE_{dim}"] = (f"{tile}", f"{what} of a tile")
        result[f"LAST_{dim}"] = (f"{last}", "where the last tile begins in its part")
    result |= {name: (f"{value}", "") for name, value in plan.constants.items()}
    sizes = {"X": Types.size(plan.types.activation), "Y": Types.size(plan.types.result)}
    result["X_SIZE"] = (f"{sizes['X']}", "bytes of an activation")
    result["Y_SIZE"] = (f"{sizes['Y']}", "bytes of a result")
    for name, pitch in plan.pitches.items():
        result[name] = (f"{pitch} * {name[0]}_SIZE", "")
    result["SUMS"] = (f"{plan.partial_bytes}", "bytes of a row's raw sums of an iteration")
    result["STARTS"] = (f"{plan.start_bytes}", "bytes of what a row's sums begin with")
    where = PACKET.size + plan.weight_segment * SEGMENT.size + SEGMENT.offsets["length"]
    what = "in a product's packet: how many bytes of weights"
    result["WEIGHT_BYTES"] = (f"{where}", what)
    return result


def write_fixed_constants(out: Listing) -> None:
    """Write the constants of cp's code that are the same for all plans."""
    out.put(f".equ UNIT, {UNIT:#x}", "from a unit to the next")
    out.put(f".equ PONG, {PONG:#x}", "from a unit's half 0 to its half 1")
    out.comment("Words of a frame; words of a transfer.")
    for place, name in enumerate(_FRAME):
        out.put(f".equ {name}, {4 * place}")
    for place, name in enumerate(("DST", "SRC", "BYTES", "", "", "", "BASE", "NEXT")):
        if name:
            out.put(f".equ {name}, {4 * place}")
    out.comment("What an iteration still has to store (word STORE).")
    for place, name in enumerate(("NOTHING", "PARTIAL", "RESULTS")):
        out.put(f".equ {name}, {place}")


_ENTER_PROGRAM = """
_start: la a0, fill_ping # packets and sequences to both halves of all units
        dma.copy s10, a0 # the ticket; load writes into ping's packets
        la a0, fill_pong
        dma.copy zero, a0
"""
_LEAVE_PROGRAM = """
        li a0, 0
        li a7, 93
        ecall
"""
_ENTER_SUBROUTINE = """
        addi sp, sp, -16
        sw ra, 12(sp)
"""
_FIRST_ITERATION = """
        li s0, ALL_ROWS
        li s1, ALL_CORES
        li s2, 0 # m, n and k of the iteration that is loaded
        li s3, 0
        li s4, 0
        li s5, STEPS # iterations that are left to dispatch
        la s8, ping # the frame of the half that loads
        la s9, pong # the frame of the half that feeds
"""
_ITERATION = """
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
_LAST_ITERATION = """
        mem.swap s0
        bnez s5, next
        mv s8, s9
        call store # of the last iteration
        dma.wait zero
"""
_LEAVE_SUBROUTINE = """
        lw ra, 12(sp)
        addi sp, sp, 16
        ret
"""


def _move_sums(out: Listing, plan: ProductPlan) -> None:
    """Write code that moves partial sums on chip after an iteration, if the plan needs that.

    They go to the other half of a unit for the next iteration, or to row 0, which adds them.
    """
    if plan.keeps_sums_on_chip:
        _join(out, "PARTIAL", "CARRY", "partial sums for the next iteration, from half to half")
    if plan.reduces_rows:
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


def _leave(out: Listing, *, shared: bool, reports: bool) -> None:
    """Write the end of the loop, and the end of the program or (`shared`) the return to the caller.

    If `reports`, the code first sets the word `progress` to -1, which means that all iterations
    have ended (`macaw.lowering.progress`).
    """
    out.block(_LAST_ITERATION)
    if reports:
        out.block(f"la t0, {PROGRESS}\nli t1, -1\nsw t1, 0(t0)")
    if shared:
        out.block(
            """
        li t0, STEPS
        andi t0, t0, 1
        bnez t0, 1f
        mem.swap s0 # half 0 loads again
1:
            """
        )
    out.block(_LEAVE_SUBROUTINE if shared else _LEAVE_PROGRAM)


def _first_transfers(transfers: Sequence[Transfer]) -> str:
    """Return code that starts the transfers before the first iteration."""
    if not transfers:
        return ""
    count, what = len(transfers), transfers[0].what
    if count == 1:
        return f"la a0, copies # {what}\ndma.copy zero, a0"
    return f"""
        la a0, copies # {what}, in {count} transfers
        li a1, {count}
1:      dma.copy zero, a0
        addi a0, a0, BASE # they have no base
        addi a1, a1, -1
        bnez a1, 1b
        """


def _join(out: Listing, store: str, transfer: str, comment: str) -> None:
    """Write code that moves sums on chip, in iterations of the kind `store`.

    cp has a frame of words about each half of the on-chip units. The word STORE of the frame says
    what happens to the sums in this half; the code moves them only if STORE is equal to `store`.
    `transfer` is the name of the word that has the address of the transfer.
    """
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


def _step(out: Listing, plan: ProductPlan) -> None:
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


def _store(out: Listing, plan: ProductPlan) -> None:
    """Write the subroutine `store`, which copies an iteration's results out of the units."""
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
    back = plan.returns_sums and not plan.keeps_sums_on_chip
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
