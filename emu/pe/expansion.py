"""Expansion: turns one iteration of a sequence into the steps that operation unit 607 starts.

Each instruction becomes a step. The flags of the exe (shift, last) and the number of the iteration
may add steps or leave some out (docs/timing-pe.md, Results). If a sequence has no instruction of
the special-function unit (spu), the expansion adds steps that move its accumulators out. If results
are to be stored as soon as they are ready (streamed), it adds stores. If the flags let results stay
in the accumulators, the expansion leaves out the moves after the last mac.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from macaw.emu.faults import Fault
from macaw.emu.pe.element_types import named_type
from macaw.emu.pe.instruction_buffers import InstructionBuffer, widened
from macaw.emu.pe.sequence import (
    ACTIVATION,
    ACTIVATIONS_SEGMENT,
    COMPRESS,
    LD_ACTIVATIONS,
    LD_BOTH,
    LD_PSUMS,
    LD_WEIGHTS,
    NONSF,
    PSUMS,
    RECORDS,
    REDUCE,
    UNIT_OF,
    WEIGHTS,
    block_mask,
    make_op,
    slices,
)
from macaw.emu.pe.state import LOADER, MAC, NO_UNIT, SFU, STORE, Op, Out, Segment, Shape
from macaw.isa.codec import Decoded
from macaw.isa.pe import (
    ACCUMULATORS,
    DTYPES,
    ELEMENTS,
    INSTRUCTION_BYTES,
    SCALAR_REDUCTIONS,
    SCALAR_SOURCE,
    SCALARS,
    SEGMENT_TYPES,
    STATES,
)

INDEX_END = 1 << 16  # the number of indices that a slice may have


class Expansion:
    """The steps (`ops`) of one iteration.

    `operands`, of shape (instructions, 2), are PE 0's entries in the register file. `flags` are the
    flags shift and last of the exe. `clusters` is the number of clusters that share the packet.
    `next_segment` is the number of the packet's first segment that no earlier iteration took. If
    `last` is set, this iteration must take all remaining segments. `address` is the address of the
    first instruction. Raises `Fault` with the address of the wrong instruction.
    """

    def __init__(
        self,
        shape: Shape,
        buffer: InstructionBuffer,
        operands: Sequence[Sequence[int]],
        flags: tuple[bool, bool],
        segments: Sequence[Segment],
        out: Out,
        clusters: int,
        address: int,
        *,
        next_segment: int,
        iteration: int,
        last: bool,
    ) -> None:
        self.shape = shape
        self.rows, self.header = buffer.rows, buffer.header
        self.strides, self.types = buffer.strides, buffer.types
        self.operands = operands
        self.segments, self.clusters = segments, clusters
        self.address = address
        self.next_segment = next_segment  # the number of the first segment that no ld has taken yet
        self.first = iteration == 0
        shift, final = flags
        self.out_count = out["count"]
        # the number of entries of the output queue that a special function processes
        self.results = max(out["count"], 1)
        units = [UNIT_OF[row.row.mnemonic] for row in self.rows]
        self.last_mac = max((place for place, unit in enumerate(units) if unit == MAC), default=-1)
        self.has_spu = SFU in units  # whether the sequence itself moves results out
        self.raw = shift and not final
        self.streams = shift and final
        self.keeps_results = not shift and not final
        self.sfu_line: list[int] = []  # accumulators whose sums chained special functions process
        self.ops: list[Op] = []
        self._expand(last)
        for op in self.ops:
            op["iteration"] = iteration

    def _expand(self, last: bool) -> None:
        for place, row in enumerate(self.rows):
            self._check_range(place, row)
            expand: Callable[[int, Decoded], None] = getattr(self, row.row.mnemonic)
            expand(place, row)
        if last and self.next_segment < len(self.segments):
            name = SEGMENT_TYPES[self.segments[self.next_segment]["type"]]
            raise self._fault(
                len(self.rows) - 1,
                "segment mismatch",
                f"no ld takes segment {self.next_segment} ({name}) of the exe",
            )
        if self.streams:
            self._add_streams()

    # For each row of the instruction table, the steps; the method has the mnemonic's name.

    def ld(self, place: int, row: Decoded) -> None:
        self.ops.append(self._load(place, row))

    def mac(self, place: int, row: Decoded) -> None:
        (base, number), stride = self.operands[place], self.strides[place][0]
        self.ops.append(make_op(place, "mac", MAC, base=base, stride=stride, sums=1 << number))
        if row.values["sfu"] and number not in self.sfu_line:
            self.sfu_line.append(number)
        if place == self.last_mac and not self.has_spu and not self.keeps_results:
            self._move_all(place)

    def spu(self, place: int, row: Decoded) -> None:
        if place < self.last_mac or not self.keeps_results:
            self.ops += self._special(place, row)

    def st(self, place: int, row: Decoded) -> None:
        if place < self.last_mac or not (self.keeps_results or self.streams):
            self.ops.append(self._store(place))

    def _fault(self, place: int, kind: str, message: str) -> Fault:
        return Fault(
            kind, message, {"place": place}, address=self.address + INSTRUCTION_BYTES * place
        )

    def _check_range(self, place: int, row: Decoded) -> None:
        """Raise `Fault` if an operand of instruction number `place`, `row`, leaves its legal range.

        The operand includes the increments of earlier iterations.
        """
        for entry, (low, end) in enumerate(self._ranges(row)):
            for operand in self._span(place, entry):
                if end and not low <= operand < end:
                    message = (
                        f"{row.row.mnemonic}: its operand has become {operand},"
                        f" not {low} to {end - 1}"
                    )
                    raise self._fault(place, "index out of range", message)

    def _span(self, place: int, entry: int) -> tuple[int, int]:
        """Return the least and the greatest value of an operand over the PEs of the cluster.

        `place` is the index of the instruction, `entry` the number of the operand (0 or 1).
        """
        value = self.operands[place][entry]
        return widened((value, value), self.strides[place][entry], self.shape.pes)

    def _ranges(self, row: Decoded) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the legal ranges (first, end) of the two operands.

        The end is excluded. The range (0, 0) means that the instruction does not have this operand.
        """
        inputs, outputs = (0, self.shape.input_buffer), (0, self.shape.output_queue)
        unit = UNIT_OF[row.row.mnemonic]
        if unit == MAC:
            return inputs, (0, ACCUMULATORS)
        if unit == LOADER:
            return (outputs if row.values["destination"] == LD_PSUMS else inputs), (0, 0)
        if unit == STORE:
            return outputs, (0, 0)
        if row.values["function"] == NONSF:
            scalar = row.values["src"] >= SCALAR_SOURCE
            sources = (SCALAR_SOURCE, SCALAR_SOURCE + SCALARS) if scalar else (0, ACCUMULATORS)
            return sources, outputs
        return outputs, ((0, SCALARS) if self._to_scalar(row) else outputs)

    def _to_scalar(self, row: Decoded) -> bool:
        """Return whether an spu instruction combines the values of all PEs in the scalar unit."""
        return row.values["function"] == REDUCE and self.header["reduction"] in SCALAR_REDUCTIONS

    # ld

    def _load(self, place: int, row: Decoded) -> Op:
        """Return the step of instruction number `place`, the ld `row`.

        `ld psums` takes the next segment of the exe if this has partial sums; otherwise it reads
        the output queue. Any other ld can take a segment of weights, of activations, or one of
        each (`_wants`). If it takes no segment, it becomes an empty step.
        """
        destination = row.values["destination"]
        if destination == LD_PSUMS:
            start, high = self._span(place, 0)
            end = min(high + ACCUMULATORS, self.shape.output_queue)
            block = block_mask(start, end, self.shape.output_block)
            if self._next_type() != PSUMS:
                every = (1 << ACCUMULATORS) - 1
                return make_op(
                    place, "ld_queue", LOADER, function=destination, sums=every, blocks=block
                )
            elements = self._elements(place, self.shape.sum_type)
            if elements > ACCUMULATORS:
                message = f"{elements} partial sums a PE, a block takes {ACCUMULATORS}"
                raise self._fault(place, "queue overflow", message)
            segments = [self._take(place, PSUMS)]
            self._output_blocks(place, 0, elements)
            sums = (1 << elements) - 1
            return make_op(
                place,
                "ld",
                LOADER,
                function=destination,
                sums=sums,
                blocks=block,
                segments=segments,
            )
        segments, writes = [], 0
        if destination in (LD_WEIGHTS, LD_BOTH) and self._wants(WEIGHTS):
            if self._next_type() == WEIGHTS:
                self._check_dense(place)
            segments.append(self._take(place, WEIGHTS))
        if destination in (LD_ACTIVATIONS, LD_BOTH) and self._wants(ACTIVATIONS_SEGMENT):
            if self._next_type() == ACTIVATIONS_SEGMENT:
                writes = self._input_blocks(place)
            segments.append(self._take(place, ACTIVATIONS_SEGMENT))
        if not segments:
            return make_op(place, "skip", NO_UNIT)
        return make_op(place, "ld", LOADER, function=destination, writes=writes, segments=segments)

    def _check_dense(self, place: int) -> None:
        """Raise `Fault` if the next segment has dense weights that do not suit the sequence.

        `place` is the number of the ld that takes the segment. Weights are dense in three cases:
        the sequence slides a window, the distribution unit compresses them, or the loading unit
        adds the indices.
        """
        sliding = STATES[self.header["state"]] == "sw"
        form = self.segments[self.next_segment]["form"]
        if sliding and form == COMPRESS:
            message = (
                f"segment {self.next_segment}: a sliding window takes dense data, not compressed"
            )
            raise self._fault(place, "segment mismatch", message)
        if sliding or form != RECORDS:
            elements = self._elements(place, self._next_dtype())
            if form != RECORDS and elements > INDEX_END:
                message = f"{elements} elements a slice, an index has 16 bits"
                message = f"segment {self.next_segment}: {message}"
                raise self._fault(place, "index out of range", message)

    def _wants(self, kind: int) -> bool:
        """Return whether an ld takes a segment of the type `kind`.

        In the first iteration an ld always takes a segment; in later iterations it does so only if
        the next segment has this type.
        """
        return self.first or self._next_type() == kind

    def _next_type(self) -> int:
        return (
            self.segments[self.next_segment]["type"]
            if self.next_segment < len(self.segments)
            else -1
        )

    def _next_dtype(self) -> str:
        """Return the NumPy type of the next segment, which has weights or activations."""
        return DTYPES[ELEMENTS[named_type(self.segments[self.next_segment], self.types)]]

    def _take(self, place: int, kind: int) -> int:
        """Take the next segment for instruction number `place`, and return the segment's number.

        Raises `Fault` unless the segment's type is `kind`.
        """
        if self._next_type() != kind:
            what = "is no segment left"
            if self.next_segment < len(self.segments):
                what = f"is {SEGMENT_TYPES[self._next_type()]} (segment {self.next_segment})"
            message = f"ld takes {SEGMENT_TYPES[kind]}, next in the exe {what}"
            raise self._fault(place, "segment mismatch", message)
        self.next_segment += 1
        return self.next_segment - 1

    def _elements(self, place: int, dtype: str) -> int:
        """Return the number of elements of type `dtype` in a slice of the next, dense segment.

        Raises `Fault` for instruction number `place`.
        """
        segment = self.segments[self.next_segment]
        size = np.dtype(dtype).itemsize
        count = slices(self.shape, segment["mode"], self.clusters)
        elements, rest = divmod(segment["length"], count * size)
        if rest:
            message = (
                f"segment {self.next_segment}: {segment['length']} bytes are no whole number of"
                f" {dtype} elements for each of {count} slices"
            )
            raise self._fault(place, "slice mismatch", message)
        return elements

    def _input_blocks(self, place: int) -> int:
        """Return the mask of the blocks that the next segment of activations fills.

        `place` is the number of the ld that takes the segment. Raises `Fault`.
        """
        elements = self._elements(place, self._next_dtype())
        start, high = self._span(place, 0)
        end = high + elements
        if end > self.shape.input_buffer:
            message = (
                f"{elements} activations from element {high} on,"
                f" the input buffer holds {self.shape.input_buffer}"
            )
            raise self._fault(place, "queue overflow", message)
        return block_mask(start, end, self.shape.input_block)

    # Results

    def _move_all(self, place: int) -> None:
        """Add steps that move the sums of the macs from the accumulators to the output queue.

        The sum in accumulator number n goes to block n of the queue (docs/timing-pe.md, Results).
        The moves count as steps of instruction number `place`, the last mac. The sum of a mac with
        `sfu` passes the activation function, unless the flags ask for raw sums.
        """
        accumulators = {op["sums"].bit_length() - 1 for op in self.ops if op["unit"] == MAC}
        for number in sorted(accumulators):
            target = number * self.shape.output_block
            chained = number in self.sfu_line and not self.raw
            self.ops.append(
                make_op(
                    place,
                    "special" if chained else "move",
                    SFU,
                    function=ACTIVATION if chained else NONSF,
                    chained=number if chained else -1,
                    implied=(number, target),
                    sums=1 << number,
                    blocks=1 << number,
                )
            )

    def _special(self, place: int, row: Decoded) -> list[Op]:
        """Return the steps of instruction number `place`, the spu `row`.

        An spu is an instruction of the special-function unit (SFU). If the flags ask for raw sums,
        the step moves them past this unit, to the entries where the sequence expects the results.
        """
        function = row.values["function"]
        source, target = self.operands[place]
        raw = self.raw and place > self.last_mac
        if function == NONSF:
            if row.values["src"] >= SCALAR_SOURCE:
                block = self._output_blocks(place, 1, 1)
                return [make_op(place, "scalar", SFU, function=function, blocks=block)]
            if source in self.sfu_line:
                self.sfu_line.remove(source)
            return [self._move(place, source)]
        scalar = self._to_scalar(row)
        chained = self.sfu_line.pop(0) if self.sfu_line else -1
        results = 1 if chained >= 0 else self.results
        if scalar and raw:
            return []
        if scalar and target + results > SCALARS:
            message = f"{results} results from scalar accumulator {target} on, there are {SCALARS}"
            raise self._fault(place, "queue overflow", message)
        if chained >= 0 and raw:
            return [self._move(place, chained, chained)]
        blocks = 0 if scalar else self._output_blocks(place, 1, results)
        if chained >= 0:
            sums = 1 << chained
            return [
                make_op(
                    place,
                    "special",
                    SFU,
                    function=function,
                    chained=chained,
                    sums=sums,
                    blocks=blocks,
                )
            ]
        blocks |= self._output_blocks(place, 0, results=0)
        name = "bypass" if raw else "special"
        return [make_op(place, name, SFU, function=function, blocks=blocks)]

    def _move(self, place: int, source: int, chained: int = -1) -> Op:
        return make_op(
            place,
            "move",
            SFU,
            function=NONSF,
            chained=chained,
            sums=1 << source,
            blocks=self._output_blocks(place, 1, 1),
        )

    def _store(self, place: int) -> Op:
        return make_op(place, "store", STORE, blocks=self._output_blocks(place, 0, results=0))

    def _output_blocks(self, place: int, entry: int, results: int) -> int:
        """Return the mask of output-queue blocks that instruction number `place` reads or writes.

        These blocks contain `results` consecutive queue entries of each PE. The number of the first
        one is the instruction's operand number `entry` (0 or 1). With `results` 0, there are as
        many queue entries as the exe has results. Raises `Fault`.
        """
        return self._blocks_of(place, self._span(place, entry), results)

    def _blocks_of(self, place: int, span: tuple[int, int], results: int) -> int:
        results, (start, high) = results or self.results, span
        end = high + results
        if end > self.shape.output_queue:
            message = (
                f"{results} results from place {high} on,"
                f" the output queue holds {self.shape.output_queue}"
            )
            raise self._fault(place, "queue overflow", message)
        return block_mask(start, end, self.shape.output_block)

    def _add_streams(self) -> None:
        """Add a store after each step of the SFU whose results no later step reads (a stream).

        The SFU is the special-function unit. Streams exist only for an exe with the flags shift and
        last, and only from its last mac on.
        """
        ops: list[Op] = []
        for at, op in enumerate(self.ops):
            ops.append(op)
            if op["unit"] != SFU or op["place"] < self.last_mac:
                continue
            if not op["implied"] and self._to_scalar(self.rows[op["place"]]):
                continue
            target = self._target(op)
            later = [
                (self.operands[other["place"]][0], self.strides[other["place"]][0])
                for other in self.ops[at + 1 :]
                if other["name"] == "special" and other["chained"] < 0
            ]
            if target in later:
                continue
            place, (first, stride) = op["place"], target
            blocks = self._blocks_of(
                place, widened((first, first), stride, self.shape.pes), results=0
            )
            implied = (first, 0)
            ops.append(
                make_op(
                    place, "store", STORE, lane=1, stride=stride, implied=implied, blocks=blocks
                )
            )
        self.ops = ops

    def _target(self, op: Op) -> tuple[int, int]:
        """Return the entry of PE 0's output queue that a step writes.

        The second result is the increase of this entry's number from each PE to the next PE.
        """
        if op["implied"]:
            return op["implied"][1], 0
        return self.operands[op["place"]][1], self.strides[op["place"]][1]
