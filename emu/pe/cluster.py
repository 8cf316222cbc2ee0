"""One cluster of a row: access to its part of the declared state."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.instruction_buffers import InstructionBuffer, buffer_of, widened
from macaw.emu.pe.sequence import block_mask
from macaw.emu.pe.state import (
    BUSY,
    COMPUTING,
    DONE,
    FREE,
    IDLE,
    MAC,
    RUNNING,
    STORE,
    WAITING,
    Op,
    Packet,
    Run,
    Segment,
    Shape,
)
from macaw.emu.state import State
from macaw.isa.pe import BLOCKS, INSTRUCTION_BYTES


class Cluster:
    """The cluster with number `number` of a row."""

    def __init__(self, state: State, shape: Shape, number: int) -> None:
        self.state, self.shape, self.number = state, shape, number

    # Runs and units

    @property
    def runs(self) -> list[Run]:
        """The runs of this cluster that have not ended, in the order of their packets."""
        runs: list[Run] = self.state.runs[self.number]
        return runs

    @property
    def units(self) -> list[int]:
        """For each unit of `state.UNITS`, the instruction buffer that uses the unit, or `FREE`."""
        units: list[int] = self.state.units[self.number]
        return units

    def run_of(self, buffer: int) -> Run | None:
        """Return the run of an instruction buffer; None if it has none."""
        for run in self.runs:
            if run["buffer"] == buffer:
                return run
        return None

    def run_for(self, packet: Packet) -> Run:
        """Return the run that an exe packet started. Raises `LookupError` if there is none here.

        By now the run may be in another buffer, one that the buffer of the exe has triggered.
        """
        order = packet["order"]
        for run in self.runs:
            if run["order"] == order:
                return run
        raise LookupError(order)

    def taker(self, packet: Packet, segment: int) -> tuple[Run, Op]:
        """Return the run and the ld step that takes segment number `segment` of a packet."""
        run = self.run_for(packet)
        return run, next(op for op in run["ops"] if segment in op["segments"])

    def storing(self) -> Op | None:
        """Return the store that has beats left to write; None if there is none."""
        buffer = self.state.units[self.number][STORE]
        if buffer == FREE:
            return None
        for run in self.state.runs[self.number]:
            if run["buffer"] == buffer:
                for op in run["ops"]:
                    if op["unit"] == STORE and op["state"] == RUNNING and op["beats"]:
                        store: Op = op
                        return store
        return None

    def remove_store_beat(self, cycle: int) -> None:
        """Remove from the current store the beat that was written in `cycle`.

        If it was the store's last beat, the store ends in this cycle.
        """
        op = self.storing()
        assert op is not None  # a store whose beat was written
        op["beats"].pop(0)
        if not op["beats"]:
            op["end"] = cycle
            self.wake(cycle + 1)

    def may_still_write(self, order: int, segment: Segment, now: int) -> bool:
        """Return whether a run of an earlier packet may still write bytes of `segment`.

        `now` is the present cycle. A packet is earlier if its number is lower than `order`, the
        number of the segment's packet.
        """
        low, high = segment["offset"], segment["offset"] + segment["length"]
        for run in self.runs:
            span = run["span"]
            if run["order"] < order and span is not None and span[0] < high and low < span[1]:
                if run["ahead"] is not None and run["ahead"]["stores"]:
                    return True
                if any(op["unit"] == STORE and not has_ended(op, now) for op in run["ops"]):
                    return True
        return False

    # Instructions

    def buffer(self, number: int) -> InstructionBuffer:
        """Return the contents of instruction buffer `number`."""
        return buffer_of(self.state, self.number, number)

    def chain(self, number: int) -> list[int]:
        """Return the number of a buffer, followed by the numbers of the buffers that it triggers.

        Each buffer triggers the next one. The chain ends at a buffer that triggers nothing, or
        before a buffer that is already in the chain.
        """
        chain = [number]
        while (then := self.buffer(chain[-1]).then) is not None and then not in chain:
            chain.append(then)
        return chain

    def address(self, run: Run, op: Op) -> int:
        """Return the memory address of the instruction of a run's step.

        The bit that selects one of the on-chip unit's halves is 0.
        """
        origin = int(self.state.origins[self.number, run["buffer"]])
        return self.shape.address(origin + INSTRUCTION_BYTES * op["place"])

    def running_address(self, unit: int) -> int | None:
        """Return the address of the instruction that unit `unit` executes; None if it is idle."""
        run = self.run_of(self.units[unit])
        if run is None:
            return None
        ops = (op for op in run["ops"] if op["unit"] == unit and op["state"] == RUNNING)
        return next((self.address(run, op) for op in ops), None)

    def operands(self, run: Run, op: Op) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the two operands of step `op` of a run, each of shape (PEs,).

        The operands of an instruction are entries of register file 605. But the first operand of a
        chained instruction is its accumulator, and a step that follows from flags has operands of
        its own.
        """
        pes = self.shape.pes
        if op["implied"] is not None:
            first, second = op["implied"]
            return first + op["stride"] * np.arange(pes), np.full(pes, second)
        entries = self.state.registers[self.number, run["buffer"], op["place"]]
        first_entry = np.full(pes, op["chained"]) if op["chained"] >= 0 else entries[0]
        return first_entry, entries[1]

    def activation_limits(self, base: NDArray[Any]) -> NDArray[Any]:
        """Return, for each PE, the first element from `base` on that is not a loaded activation.

        `base` and the result have shape (PEs,), and count elements of the input buffer.
        """
        size, pes = self.shape.input_block, np.arange(self.shape.pes)
        loaded = self.state.block_loaded[self.number]
        partial = (loaded < size) & (np.arange(BLOCKS) >= (base // size)[:, None])
        block = partial.argmax(axis=1)
        end = np.where(partial.any(axis=1), block * size + loaded[pes, block], BLOCKS * size)
        limits: NDArray[Any] = np.maximum(end, base)
        return limits

    def set_reads(self, run: Run) -> None:
        """Set, for each waiting mac of a run, which blocks of the input buffer it will read.

        A mac reads the elements from its base up to its base plus the greatest index of the run's
        weights.
        """
        for op in run["ops"]:
            if op["unit"] == MAC and op["state"] == WAITING and run["reach"] >= 0:
                base = op["base"]
                low, high = widened((base, base), op["stride"], self.shape.pes)
                end = min(high + run["reach"] + 1, self.shape.input_buffer)
                op["reads"] = block_mask(low, end, self.shape.input_block)

    # Time

    def wake(self, cycle: int) -> None:
        """Make the control unit act in `cycle` or earlier."""
        due = self.state.due
        due[self.number] = min(due[self.number], cycle)

    def set_activity(self, activity: int, cycle: int) -> None:
        """Record the activity of the PEs from `cycle` on: IDLE, BUSY or COMPUTING."""
        self.count_to(cycle)
        self.state.doing[self.number] = activity
        self.state.computing[self.number] = activity == COMPUTING

    def count_to(self, cycle: int) -> None:
        """Add the cycles since the last count, up to `cycle` - 1, to the idle or waiting cycles.

        The data path counts the cycles in which a mac executes; this method does not.
        """
        state, c = self.state, self.number
        cycles = cycle - int(state.doing_since[c])
        if state.doing[c] == IDLE:
            state.cycles_idle[c] += cycles
        elif state.doing[c] == BUSY:
            state.cycles_queue[c] += cycles
        state.doing_since[c] = cycle


def has_ended(op: Op, now: int) -> bool:
    """Return whether a step ended before cycle `now`, even if it is not yet marked as done."""
    return op["state"] == DONE or (op["state"] == RUNNING and op["end"] < now)
