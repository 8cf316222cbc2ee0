"""The matrix-vector processor: its instructions.

An instruction is an act; that of a chain's last instruction begins the chain, and the acts that
follow are those of `macaw.emu.nnp.iterations`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from macaw.emu.core import NEVER
from macaw.emu.faults import Fault, Stop
from macaw.emu.nnp.chain import Chain
from macaw.emu.nnp.formats import formats
from macaw.emu.nnp.iterations import WORD, Iterations
from macaw.emu.nnp.state import HOST_FILES
from macaw.isa.codec import Decoded, DecodeError, decode
from macaw.isa.nnp import BEGIN, BETWEEN, CORE, MEMORY, SCALARS, STAGE, WRITE
from macaw.isa.nnp_chains import ChainError, complete, follow, goes_on, scalar, step
from macaw.isa.nnp_entries import check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from macaw.emu.device import Device
    from macaw.emu.formats import MemoryFormat

_PROGRAM = MEMORY[0]
_KNOWN = 4096  # complete chains that are kept
_BURST = 1 << 15  # cycles: iterations that begin in them can be done together
_MARKERS = {"trace_begin": True, "trace_end": False}
_PLACES = {row.name: place for place, row in enumerate(SCALARS)}


@lru_cache(maxsize=1 << 16)
def _decoded(word: int) -> Decoded:
    return decode(CORE, word, 8 * WORD)


@lru_cache(maxsize=1 << 16)
def _goes_on(word: int) -> bool:
    """Whether a word belongs to the chain before it."""
    try:
        return goes_on(_decoded(word))
    except DecodeError:
        return False  # it faults when its turn comes


@lru_cache(maxsize=1 << 14)
def _followed(words: tuple[int, ...]) -> None:
    """Raise `ChainError` unless the words begin a chain."""
    follow([_decoded(word) for word in words])


class Processor(Iterations):
    """The one core of the table nnp."""

    halts = True

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.burst = _BURST
        config = device.config
        self.sizes = {name: config[name] for name in config if name.startswith(f"{CORE.name}.")}
        self._known: dict[tuple[tuple[int, ...], bytes], Chain] = {}  # by words and registers

    # The contract

    @property
    def next_address(self) -> int | None:
        return self.state.pc if self.running else None

    @property
    def following(self) -> tuple[int, ...]:
        """See `Core.following`: while a chain is at work, its last instruction was started."""
        return () if self.state.launched or self.state.ending else super().following

    def current(self) -> tuple[str, int | None]:
        """The open chain, or the instruction with which one may begin."""
        chain = self.state.chain
        return "", chain[0][0] if chain else self.next_address

    def start(self, entry: int, time: int) -> None:
        """Start at `entry`; register files, queues and what s_wr has set stay."""
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
        self.arithmetic.clear()
        self._single = False
        state = self.state
        self._chain = None
        if state.launched:
            self._chain = self._complete(tuple(word for _, word in state.chain))

    def not_numbers(self) -> Mapping[str, NDArray[np.bool_]]:
        """See `Core.not_numbers`: of its vector register files."""
        return {name: np.isnan(getattr(self.state, x)) for name, x in HOST_FILES.items()}

    @property
    def formats(self) -> Mapping[str, MemoryFormat]:
        """See `Core.formats`."""
        return formats(self.arithmetic, self.device.config)

    def write_register(self, name: str, value: int, time: int) -> None:
        """Set the base of Dram, a multiple of 4. Raises `Fault`."""
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
                stop = self.halted(state.pc) if self.breaks else None
                if stop is not None:
                    return stop
                self._instruct()
            elif self._run_chain(limit):
                return None
        return None

    # Instructions

    def _fetch(self, address: int) -> Decoded:
        """The instruction at an address. Raises `Fault`."""
        if address % WORD:
            raise Fault("misaligned access", f"fetch at {address:#010x}", {"address": address})
        word = self._word(address)
        try:
            return _decoded(word)
        except DecodeError as error:
            detail = error.detail.lstrip(": ") or f"no instruction of {self.table.name}"
            if not word:
                own, size = _PROGRAM.start(), _PROGRAM.bytes(self.device.config)
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

    def _following(self) -> int | None:
        """The word behind the instruction; None: there is no memory."""
        try:
            return self._word(self.state.pc + WORD)
        except Fault:
            return None

    def _instruct(self) -> None:
        """Do the instruction at `pc`. Raises `Fault`."""
        state = self.state
        found = self._fetch(state.pc)
        if self.listeners:
            self.announce("instruction", address=state.pc)
        role = step(found).role
        if role in (BEGIN, STAGE, WRITE):
            self._link(found)
            return
        if role == BETWEEN:
            self._set(found)
        elif not self._following():  # nothing is behind this end_chain
            state.ending = True
            self.time = max(self.time + self.timing.issue, self.aligned(state.done))
            return
        self._retire(self.time + self.timing.issue)

    def _set(self, found: Decoded) -> None:
        """s_wr, or a marker. Raises `Fault`."""
        does = step(found).does
        if does in _MARKERS:
            self.mark(_MARKERS[does], found.values["g"], self.time, self.time + self.timing.issue)
            return
        try:
            name, value = scalar(found)
        except ChainError as error:
            raise Fault("broken chain", str(error), {"rule": error.rule}) from None
        self.state.scalars[_PLACES[name]] = value
        if self.remembered is not None:
            self.remembered.set(name, value)

    def _link(self, found: Decoded) -> None:
        """Add an instruction to the chain that is open; begin the chain with its last one."""
        state = self.state
        own = self._word(state.pc)
        words = (*(word for _, word in state.chain), own)
        following = self._following()
        more = following is not None and _goes_on(following)
        try:
            if more:
                _followed(words)
            else:
                self._chain = self._complete(words)
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

    def _complete(self, words: tuple[int, ...]) -> Chain:
        """A complete chain. Raises `ChainError`."""
        key = words, self.state.scalars.tobytes()
        found = self._known.get(key)
        if found is None:
            rows, scalars = [_decoded(word) for word in words], self.state.scalar_values()
            follow(rows)
            complete(rows)
            check(rows, scalars, self.sizes)
            if len(self._known) >= _KNOWN:
                self._known.clear()
            found = self._known[key] = Chain(rows, scalars)
        return found

    def _end(self) -> None:
        """All writes are there."""
        time = self.time
        self.state.ending = False
        self.state.pc += WORD
        self.retired += 1
        self.running = False
        self.time = NEVER
        self._deliver(time + 1)
        self.device.changed(self, time)
