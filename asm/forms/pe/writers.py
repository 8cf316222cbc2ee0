"""Finds the stores of a sequence, and which PEs write: all or, after a reduction, PE 0 of each
cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from macaw.isa.pe import FUNCTIONS, SCALAR_REDUCTIONS, SCALAR_SOURCE
from macaw.isa.rows import Instruction
from macaw.isa.typed_records import NamedTuple


class Move(NamedTuple):
    """How one instruction of a sequence reads or changes blocks of the output queue.

    `source` is the block that an st or spu reads; for a mac it is the accumulator. `target` is the
    block that an spu writes; None means that the result goes to the scalar unit. With `copies`, the
    same PEs have results in the target as in the source; with `first`, only PE 0 of each cluster
    has results in the target. With `chains`, a mac passes its sum on to the special-function unit.
    """

    mnemonic: str  # mac, spu or st
    source: int  # block that st and spu read; for mac and nonsf the accumulator
    target: int | None = 0  # block that spu writes; None: the scalar unit
    reads: bool = False  # of spu: it reads a block, unless a sum is chained into it
    copies: bool = False  # the target gets the results of the PEs that have the source
    first: bool = False  # only PE 0 of each cluster gets a result in the target
    chains: bool = False  # of a mac: its sum is chained into the special-function unit


def move(row: Instruction, values: Mapping[str, int], reduction: int) -> Move | None:
    """Return how a mac, st or spu of a sequence uses the output queue; None for other instructions.

    `row` is the instruction's table row, `values` are its operands by name. `reduction` is the
    number of the reduction that the sequence's header selects.
    """
    if row.mnemonic == "mac":
        return Move("mac", values.get("acc", 0), chains=bool(values.get("sfu")))
    if row.mnemonic == "st":
        return Move("st", source=values.get("base", 0))
    if row.mnemonic != "spu":
        return None
    function, source = FUNCTIONS[values["function"]], values.get("src", 0)
    reduces = function == "reduce"
    target = None if reduces and reduction in SCALAR_REDUCTIONS else values.get("dst", 0)
    from_scalar = function == "nonsf" and source >= SCALAR_SOURCE
    reads = function != "nonsf"
    return Move("spu", source, target, reads, reads and not reduces, reduces or from_scalar)


def stores_early(moves: Sequence[Move]) -> bool:
    """Return whether a store precedes the last mac.

    Such a store writes results even if the exe has neither of the flags `shift` and `last`.
    """
    macs = [at for at, one in enumerate(moves) if one.mnemonic == "mac"]
    return any(one.mnemonic == "st" for one in moves[: macs[-1] if macs else 0])


def first_alone(moves: Sequence[Move], shift: bool, last: bool, unknown: bool) -> bool:
    """Return whether the results that an exe writes are in PE 0 of each cluster only.

    The arguments are those of `stores`.
    """
    results = stores(moves, shift, last, unknown)
    return bool(results) and all(results)


def stores(moves: Sequence[Move], shift: bool, last: bool, unknown: bool = False) -> list[bool]:
    """Return, for each store of an iteration, whether only PE 0 of each cluster has its results.

    `moves` are the effects of the sequence's instructions, `shift` and `last` the flags of the exe.
    The flags leave out stores, or add stores of streamed results. Results come from blocks of the
    output queue. `unknown` is the answer to assume for a block that no earlier instruction of the
    sequence has written.
    """
    last_mac = max((at for at, one in enumerate(moves) if one.mnemonic == "mac"), default=-1)
    if last_mac >= 0 and not any(one.mnemonic == "spu" for one in moves):
        # each PE moves its sums out
        streams = {one.source for one in moves if one.mnemonic == "mac" and shift and last}
        written = [
            at
            for at, one in enumerate(moves)
            if one.mnemonic == "st" and (at < last_mac or shift != last)
        ]
        return [False] * (len(written) + len(streams))
    first_only: dict[int, bool] = {}  # by block: PE 0 alone holds results there
    line: list[int] = []  # accumulators that wait for a special function
    results: list[bool] = []
    for at, one in enumerate(moves):
        after = at > last_mac
        if one.mnemonic == "mac":
            if one.chains and one.source not in line:
                line.append(one.source)
        elif one.mnemonic == "st":
            if not after or last != shift:
                results.append(first_only.get(one.source, unknown))
        elif not after or last or shift:
            chained = bool(line) and one.reads
            if chained:
                line.pop(0)
            elif not one.reads and one.source in line:
                line.remove(one.source)
            raw = after and not last  # raw sums go past the special functions, reductions too
            if one.target is None:
                continue
            if (one.copies or (raw and one.reads)) and not chained:
                first_only[one.target] = first_only.get(one.source, unknown)
            else:
                first_only[one.target] = one.first and not (raw and one.reads)
            if after and shift and last and not _read_later(one.target, moves[at + 1 :], line):
                results.append(first_only[one.target])
    return results


def _read_later(block: int, moves: Sequence[Move], line: Sequence[int]) -> bool:
    """Return whether a special function in `moves`, the instructions after the macs, reads `block`.

    `block` is the number of a block of the output queue. If such a function reads it, the array
    does not write the results in the block to the memory unit. A function reads no block if it
    works on an accumulator, the next one in `line`.
    """
    waiting = list(line)
    for one in moves:
        if one.reads and waiting:
            waiting.pop(0)
        elif one.reads and one.source == block:
            return True
        elif one.mnemonic == "spu" and not one.reads and one.source in waiting:
            waiting.remove(one.source)
    return False
