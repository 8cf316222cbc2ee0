"""The contents of instruction buffers, and everything that their sequences may use.

A buffer contains a header, instructions, their operands, and the increment (step) of each operand,
which scalar unit 604 adds once in each iteration (seed 000 ¶104, ¶112). So the value of an operand
in any iteration follows from its first value.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.sequence import (
    LD_PSUMS,
    MEMBERS,
    NONSF,
    UNIT_OF,
    block_mask,
    decode_word,
)
from macaw.emu.pe.state import LOADER, MAC, SFU, STORE, Ahead, Shape
from macaw.emu.state import State
from macaw.isa.codec import Decoded
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import ACCUMULATORS, CORE, THEN
from macaw.isa.touching import touched_registers

Pairs = list[list[int]]  # for each instruction, its two operands


@dataclass(frozen=True, eq=False)
class InstructionBuffer:
    """The configured contents of one instruction buffer, as they are before a run.

    `words` are the instructions. For each instruction and operand, `steps` has the increments of
    the inner and the outer loop, and `strides` the growth from a PE to the next PE. `types` are the
    types of weights and of activations. Buffers with equal contents are usually one object
    (`buffer_of`).
    """

    header: dict[str, int]
    words: list[int]
    steps: list[list[list[int]]]
    strides: list[list[int]]
    types: tuple[int, int]  # of weights and of activations, as indices in macaw.isa.pe.ELEMENTS

    @cached_property
    def rows(self) -> list[Decoded]:
        """The instructions of the buffer, decoded."""
        return [decode_word(word) for word in self.words]

    @property
    def iterations(self) -> int:
        """The number of iterations of the sequence."""
        return self.header["inner"] * self.header["outer"]

    @property
    def then(self) -> int | None:
        """The number of the buffer that this buffer triggers; None if it triggers none."""
        return self.header["then"] - THEN if self.header["then"] else None

    def operands(self, initial: Pairs, iteration: int) -> Pairs:
        """Return PE 0's operands in an iteration: the two operands of each instruction.

        `initial` has the operands of iteration 0. Each iteration adds the inner step, and each
        completed inner loop adds the outer step.
        """
        outer = iteration // self.header["inner"]
        return [
            [
                first + iteration * inner_step + outer * outer_step
                for first, (inner_step, outer_step) in zip(pair, steps, strict=True)
            ]
            for pair, steps in zip(initial, self.steps, strict=True)
        ]

    def operand(
        self, initial: Pairs, place: int, entry: int, iterations: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the values that one operand of PE 0 has in the iterations with these numbers.

        The result has one value for each number in `iterations`. `place` is the index of the
        instruction, `entry` the number of its operand (0 or 1). `initial` has the operands of
        iteration 0.
        """
        inner_step, outer_step = self.steps[place][entry]
        outer = iterations // self.header["inner"]
        return initial[place][entry] + iterations * inner_step + outer * outer_step

    def ranges(self, initial: Pairs, pes: int) -> list[list[tuple[int, int]]]:
        """Return the least and the greatest value of each operand over all iterations and PEs.

        The result has a list for each instruction, with a pair (least, greatest) for each operand.
        `pes` is the number of PEs of a cluster.
        """
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
    """Return the least and the greatest value of an operand over `pes` PEs.

    `span` is its range in PE 0. From each PE to the next, the operand grows by `stride`.
    """
    reach = stride * (pes - 1)
    return span[0] + min(reach, 0), span[1] + max(reach, 0)


@lru_cache(maxsize=256)
def _buffer(
    header: bytes, words: bytes, steps: bytes, strides: bytes, types: tuple[int, int]
) -> InstructionBuffer:
    """Return the contents of a buffer.

    The arguments are the parts of the row's state that belong to this buffer. Each comes from the
    field with the argument's name: `types` as numbers, the other fields as bytes. The result is
    cached, because most clusters have equal buffers.
    """
    members = np.frombuffer(header, np.int32).tolist()
    values = dict(zip(MEMBERS, members, strict=True))
    count = values["count"]
    return InstructionBuffer(
        values,
        np.frombuffer(words, np.uint16)[:count].tolist(),
        np.frombuffer(steps, np.int32).reshape(-1, 2, 2)[:count].tolist(),
        np.frombuffer(strides, np.int32).reshape(-1, 2)[:count].tolist(),
        types,
    )


def buffer_of(state: State, cluster: int, number: int) -> InstructionBuffer:
    """Return the contents of instruction buffer `number` of a cluster.

    The contents are read from the state of the row. If the buffer is not configured, its header has
    count 0.
    """
    return _buffer(
        state.headers[cluster, number].tobytes(),
        state.words[cluster, number].tobytes(),
        state.steps[cluster, number].tobytes(),
        state.strides[cluster, number].tobytes(),
        tuple(state.types[cluster, number].tolist()),
    )


def initial_operands(state: State, cluster: int, number: int) -> Pairs:
    """Return PE 0's operands that the register file now has for a cluster's buffer `number`."""
    count = int(state.headers[cluster, number, MEMBERS.index("count")])
    pairs: Pairs = state.registers[cluster, number, :count, :, 0].tolist()
    return pairs


def uses(shape: Shape, buffer: InstructionBuffer, initial: Pairs, results: int) -> Ahead:
    """Return all accumulators and blocks that the iterations of a buffer may use.

    The result also says whether the iterations may store. `initial` has the operands of iteration
    0. `results` is the number of results of each PE that one store takes. Do not change the result:
    it is cached, because most exes differ only in data.
    """
    operands = tuple((first, second) for first, second in initial)
    return _uses(shape, buffer, operands, results)


@lru_cache(maxsize=256)
def _uses(
    shape: Shape, buffer: InstructionBuffer, operands: tuple[tuple[int, int], ...], results: int
) -> Ahead:
    initial = [list(pair) for pair in operands]
    ahead = Ahead(sums=0, blocks=0, low=shape.input_buffer, high=-1, stores=False)
    rows = buffer.rows
    units = [UNIT_OF[row.row.mnemonic] for row in rows]
    for row, unit, (first, second) in zip(
        rows, units, buffer.ranges(initial, shape.pes), strict=True
    ):
        if unit == MAC:
            ahead["low"], ahead["high"] = min(ahead["low"], first[0]), max(ahead["high"], first[1])
            ahead["sums"] |= _mask(second, 1, ACCUMULATORS)
            # implied moves use the block that has the number of the accumulator
            if SFU not in units:
                ahead["blocks"] |= _mask(second, 1, ACCUMULATORS)
        elif unit == STORE:
            ahead["blocks"] |= _blocks(shape, first, results)
            ahead["stores"] = True
        elif unit == SFU:
            ahead["blocks"] |= _blocks(shape, second, results)
            if row.values["function"] == NONSF:
                ahead["sums"] |= _mask(first, 1, ACCUMULATORS)
            else:
                ahead["sums"] |= (1 << ACCUMULATORS) - 1  # a chained function may use any of them
                ahead["blocks"] |= _blocks(shape, first, results)
        elif unit == LOADER and row.values["destination"] == LD_PSUMS:
            ahead["sums"] |= (1 << ACCUMULATORS) - 1
            ahead["blocks"] |= _blocks(shape, first, ACCUMULATORS)
    ahead["stores"] |= SFU in units or MAC in units  # streams store the results of these steps
    return ahead


def union(first: Ahead | None, second: Ahead) -> Ahead:
    """Return an `Ahead` with everything that is in `first` or `second`; None counts as empty."""
    if first is None:
        return second
    return Ahead(
        sums=first["sums"] | second["sums"],
        blocks=first["blocks"] | second["blocks"],
        low=min(first["low"], second["low"]),
        high=max(first["high"], second["high"]),
        stores=first["stores"] or second["stores"],
    )


def _mask(span: tuple[int, int], count: int, places: int) -> int:
    return block_mask(max(span[0], 0), min(span[1] + count, places), 1)


def _blocks(shape: Shape, span: tuple[int, int], count: int) -> int:
    low, high = max(span[0], 0), min(span[1] + count, shape.output_queue)
    return block_mask(low, high, shape.output_block)


def accesses(word: int, sums: int, implied: bool) -> dict[str, int]:
    """Return the masks of accumulators that a step of the instruction `word` reads and writes.

    The keys are `reads` and `writes`. `sums` is the mask of all accumulators that the step uses. A
    step that follows from flags (`implied`) writes no accumulator.
    """
    reads, writes = touched_registers(CORE, decode_word(word))
    return {"reads": sums if reads else 0, "writes": sums if writes and not implied else 0}
