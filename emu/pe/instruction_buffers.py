"""What stands in an instruction buffer: header, instructions, operands, steps; what they may use.

The scalar unit 604 changes operands by a fixed step at each loopback (seed 000 ¶104, ¶112),
so an operand's value in any iteration follows from its first one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from macaw.emu.pe.sequence import (
    LD_PSUMS,
    MEMBERS,
    NONSF,
    UNIT_OF,
    block_mask,
    decoded,
)
from macaw.emu.pe.state import LOADER, MAC, SFU, STORE, Ahead, Shape
from macaw.emu.state import State
from macaw.isa.codec import Decoded
from macaw.isa.pe import ACCUMULATORS, CORE, THEN
from macaw.isa.touching import touched

Pairs = list[list[int]]  # by instruction: its two operands


@dataclass(frozen=True)
class InstructionBuffer:
    """A configured instruction buffer of a cluster, as it is when nothing runs in it."""

    header: dict[str, int]
    words: list[int]
    steps: list[list[list[int]]]  # by instruction and operand: inner, outer
    strides: list[list[int]]  # by instruction and operand: from a PE to the next

    @property
    def rows(self) -> list[Decoded]:
        """The instructions."""
        return [decoded(word) for word in self.words]

    @property
    def iterations(self) -> int:
        """How often the sequence runs."""
        return self.header["inner"] * self.header["outer"]

    @property
    def then(self) -> int | None:
        """The buffer that it triggers."""
        return self.header["then"] - THEN if self.header["then"] else None

    def operands(self, initial: Pairs, iteration: int) -> Pairs:
        """PE 0's operands of an iteration: `n` inner steps and an outer one for each inner loop."""
        outer = iteration // self.header["inner"]
        return [
            [
                first + iteration * inner_step + outer * outer_step
                for first, (inner_step, outer_step) in zip(pair, steps, strict=True)
            ]
            for pair, steps in zip(initial, self.steps, strict=True)
        ]

    def ranges(self, initial: Pairs, pes: int) -> list[list[tuple[int, int]]]:
        """The least and the greatest value of each operand over all iterations and `pes` PEs."""
        inner = self.header["inner"]
        corners = [
            self.operands(initial, n)
            for n in (0, inner - 1, self.iterations - inner, self.iterations - 1)
        ]
        return [
            [
                widened((min(values), max(values)), stride, pes)
                for values, stride in zip(zip(*pairs, strict=True), strides, strict=True)
            ]
            for pairs, strides in zip(zip(*corners, strict=True), self.strides, strict=True)
        ]


def widened(span: tuple[int, int], stride: int, pes: int) -> tuple[int, int]:
    """The least and the greatest value over `pes` PEs of what PE 0 has between two values."""
    reach = stride * (pes - 1)
    return span[0] + min(reach, 0), span[1] + max(reach, 0)


@lru_cache(maxsize=256)
def _buffer(header: bytes, words: bytes, steps: bytes, strides: bytes) -> InstructionBuffer:
    """What rows of the state, as they lie there, say: most clusters have the same."""
    members = np.frombuffer(header, np.int32).tolist()
    found = dict(zip(MEMBERS, members, strict=True))
    count = found["count"]
    return InstructionBuffer(
        found,
        np.frombuffer(words, np.uint16)[:count].tolist(),
        np.frombuffer(steps, np.int32).reshape(-1, 2, 2)[:count].tolist(),
        np.frombuffer(strides, np.int32).reshape(-1, 2)[:count].tolist(),
    )


def buffer_of(state: State, cluster: int, number: int) -> InstructionBuffer:
    """The contents of an instruction buffer; count 0: nothing is configured."""
    return _buffer(
        state.headers[cluster, number].tobytes(),
        state.words[cluster, number].tobytes(),
        state.steps[cluster, number].tobytes(),
        state.strides[cluster, number].tobytes(),
    )


def initial_operands(state: State, cluster: int, number: int) -> Pairs:
    """The operands of a buffer as they stand in the register file, of PE 0."""
    count = int(state.headers[cluster, number, MEMBERS.index("count")])
    pairs: Pairs = state.registers[cluster, number, :count, :, 0].tolist()
    return pairs


def uses(shape: Shape, buffer: InstructionBuffer, initial: Pairs, results: int) -> Ahead:
    """What the iterations of a buffer may use at most, for `results` of a PE in a store."""
    found = Ahead(sums=0, blocks=0, low=shape.input_buffer, high=-1, stores=False)
    rows = buffer.rows
    units = [UNIT_OF[row.row.mnemonic] for row in rows]
    for row, unit, (first, second) in zip(
        rows, units, buffer.ranges(initial, shape.pes), strict=True
    ):
        if unit == MAC:
            found["low"], found["high"] = min(found["low"], first[0]), max(found["high"], first[1])
            found["sums"] |= _mask(second, 1, ACCUMULATORS)
            if SFU not in units:  # results leave to the block of the accumulator's number
                found["blocks"] |= _mask(second, 1, ACCUMULATORS)
        elif unit == STORE:
            found["blocks"] |= _blocks(shape, first, results)
            found["stores"] = True
        elif unit == SFU:
            found["blocks"] |= _blocks(shape, second, results)
            if row.values["function"] == NONSF:
                found["sums"] |= _mask(first, 1, ACCUMULATORS)
            else:
                found["sums"] |= (1 << ACCUMULATORS) - 1  # if it is chained
                found["blocks"] |= _blocks(shape, first, results)
        elif unit == LOADER and row.values["destination"] == LD_PSUMS:
            found["sums"] |= (1 << ACCUMULATORS) - 1
            found["blocks"] |= _blocks(shape, first, ACCUMULATORS)
    found["stores"] |= SFU in units or MAC in units  # streams
    return found


def joined(left: Ahead | None, right: Ahead) -> Ahead:
    """What either may use."""
    if left is None:
        return right
    return Ahead(
        sums=left["sums"] | right["sums"],
        blocks=left["blocks"] | right["blocks"],
        low=min(left["low"], right["low"]),
        high=max(left["high"], right["high"]),
        stores=left["stores"] or right["stores"],
    )


def _mask(span: tuple[int, int], count: int, places: int) -> int:
    return block_mask(max(span[0], 0), min(span[1] + count, places), 1)


def _blocks(shape: Shape, span: tuple[int, int], count: int) -> int:
    low, high = max(span[0], 0), min(span[1] + count, shape.output_queue)
    return block_mask(low, high, shape.output_block)


def accesses(word: int, sums: int, implied: bool) -> dict[str, int]:
    """Masks of the accumulators that a step reads and writes, of those that it uses (`sums`).

    What flags imply moves sums out.
    """
    reads, writes = touched(CORE, decoded(word))
    return {"reads": sums if reads else 0, "writes": sums if writes and not implied else 0}
