"""The matrix-vector processor: it executes single instructions, and implements `Core`.

Each instruction is one act. After the last instruction of a chain, the acts of
`macaw.emu.nnp.chains` execute the chain.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from macaw.emu.breaks import Breakable
from macaw.emu.faults import Fault, Stop
from macaw.emu.formats import MemoryFormat
from macaw.emu.nnp.chains import ChainCore
from macaw.emu.nnp.decoder import WORD, check_prefix, continues_chain, decode_word
from macaw.emu.nnp.formats import formats
from macaw.emu.nnp.state import HOST_FILES
from macaw.emu.waits import NEVER
from macaw.isa.codec import Decoded, DecodeError
from macaw.isa.nnp import BEGIN, BETWEEN, MEMORY, SCALARS, STAGE, WRITE
from macaw.isa.nnp_chains import ChainError, settings, step

_PROGRAM = MEMORY[0]
_MARKERS = {"trace_begin": True, "trace_end": False}
_PLACES = {row.name: place for place, row in enumerate(SCALARS)}


class NnpCore(ChainCore, Breakable):
    """The core nnp. Each engine is a subclass, with its own arithmetic and scheduler."""

    # What the device calls

    @property
    def next_address(self) -> int | None:
        return self.state.pc if self.running else None

    @property
    def next_addresses(self) -> tuple[int, ...]:
        """The address of the next instruction; empty while a chain executes or the program ends."""
        return () if self.state.launched or self.state.ending else super().next_addresses

    def current(self) -> tuple[str, int | None]:
        """Return ("", address) of what the core executes now.

        The address is that of the first instruction of the open chain. If no chain is open, it is
        the address of the next instruction, or None if nnp is idle. The text is always empty.
        """
        chain = self.state.chain
        return "", chain[0][0] if chain else self.next_address

    def start(self, entry: int, time: int) -> None:
        """Start a program at the address `entry`, in nnp's first cycle that is not before `time`.

        Register files, queues and registers keep their values.
        """
        state = self.state
        state.pc = entry
        state.chain, state.launched, state.iteration, state.popped = [], False, 0, []
        self._chain = None
        self.running = True
        self.time = self.aligned(time)

    def counters(self) -> dict[str, int]:
        state = self.state
        return {
            "instructions": self.retired,
            "chains": state.chains,
            "tiles": state.tiles,
            "vectors": state.vectors,
            "cycles_waiting": self.waited,
        }

    def reload(self) -> None:
        super().reload()
        self.last_break = None
        self.arithmetic.invalidate_all()
        self._single = False
        state = self.state
        self._chain = None
        if state.launched:
            self._chain = self.decoder.chain(tuple(word for _, word in state.chain))

    def not_numbers(self) -> Mapping[str, NDArray[np.bool_]]:
        """Return, for each register file of host values by name, a mask of the NaNs in it."""
        return {name: np.isnan(getattr(self.state, x)) for name, x in HOST_FILES.items()}

    @property
    def formats(self) -> Mapping[str, MemoryFormat]:
        """The number formats of nnp in which the debugger can show memory, by name."""
        return formats(self.arithmetic, self.device.config)

    def write_register(self, name: str, value: int, time: int) -> None:
        """Set the register `name`, the base address of Dram, to `value` in cycle `time`.

        Raises `Fault` unless the value is a multiple of 4.
        """
        if value % 4:
            text = f"the {name} of {self.name} is a multiple of 4, not {value:#010x}"
            raise Fault("misaligned access", text, {"address": value})
        super().write_register(name, value, time)

    def advance(self, limit: int) -> Stop | None:
        while self.time < limit:
            state = self.state
            if state.ending:
                self._end()
                return None
            if not state.launched:
                stop = self.break_stop(state.pc) if self.breaks else None
                if stop is not None:
                    return stop
                self._instruct()
            elif self._run_chain(limit):
                return None
        return None

    # Instructions

    def _fetch(self, address: int) -> Decoded:
        """Return the instruction at an address. Raises `Fault`."""
        if address % WORD:
            raise Fault("misaligned access", f"fetch at {address:#010x}", {"address": address})
        word = self._word(address)
        try:
            return decode_word(word)
        except DecodeError as error:
            detail = error.detail or f"no instruction of {self.table.name}"
            if not word:
                own, size = _PROGRAM.start(0), _PROGRAM.bytes(self.device.config, 0)
                inside = own <= address < own + size
                detail += (
                    "; a program ends with end_chain"
                    if inside
                    else f"; instructions of {self.name} begin at {own:#010x}"
                )
            raise Fault(error.kind, f"the word {word:#010x}: {detail}", {"word": word}) from None

    def _word(self, address: int) -> int:
        pages, offset = self.device.memory.locate(address, WORD, "fetch")
        return int.from_bytes(pages.read(offset, WORD), "little")

    def _next_word(self) -> int | None:
        """Return the word after the instruction at `pc`; None if no memory contains it."""
        try:
            return self._word(self.state.pc + WORD)
        except Fault:
            return None

    def _instruct(self) -> None:
        """Execute the instruction at `pc`. Raises `Fault`."""
        state = self.state
        instruction = self._fetch(state.pc)
        if self.listeners:
            self.announce("instruction", address=state.pc)
        role = step(instruction).role
        if role in (BEGIN, STAGE, WRITE):
            self._append(instruction)
            return
        if role == BETWEEN:
            self._set(instruction)
        elif not self._next_word():  # this end_chain ends the program
            state.ending = True
            self.time = max(self.time + self.timing.issue, self.aligned(state.done))
            return
        self._retire(self.time + self.timing.issue)

    def _set(self, instruction: Decoded) -> None:
        """Execute `instruction`, an s_wr or a marker. Raises `Fault`."""
        does = step(instruction).does
        if does in _MARKERS:
            group, until = instruction.values["g"], self.time + self.timing.issue
            self.mark(_MARKERS[does], group, self.time, until)
            return
        try:
            registers = settings(instruction)
        except ChainError as error:
            raise Fault("broken chain", str(error), {"rule": error.rule}) from None
        for name, value in registers.items():
            self.state.scalars[_PLACES[name]] = value
            if self.chain_origins is not None:
                self.chain_origins.set_register(name, value)

    def _append(self, instruction: Decoded) -> None:
        """Add the instruction at `pc` to the open chain.

        If the chain is complete now, start to execute it. Raises `Fault`.
        """
        state = self.state
        own = self._word(state.pc)
        words = (*(word for _, word in state.chain), own)
        following = self._next_word()
        more = following is not None and continues_chain(following)
        try:
            if more:
                check_prefix(words)
            else:
                self._chain = self.decoder.chain(words)
        except ChainError as error:
            places = [*(address for address, _ in state.chain), state.pc]
            at = places[error.at] if error.at < len(places) else state.pc
            values: dict[str, int | str] = {"rule": error.rule}
            raise Fault("broken chain", f"{error}", values, address=at) from None
        state.chain.append((state.pc, own))
        if more:
            self._retire(self.time + self.timing.issue)
            return
        state.launched, state.iteration = True, 0
        state.asked, state.starved, state.full = self.time, 0, 0
        state.stored_before = state.stored
        self._single = False

    def _end(self) -> None:
        """End the program, whose writes are all done. If a message waits, deliver it now."""
        time = self.time
        self.state.ending = False
        self.state.pc += WORD
        self.retired += 1
        self.running = False
        self.time = NEVER
        self._deliver(time + 1)
        self.device.changed(self, time)
