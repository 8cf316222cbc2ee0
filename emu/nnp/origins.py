"""Records the result of each instruction in each iteration of a chain.

The reference engine records every iteration. `macaw.emu.nnp.elements` finds the origins of elements
in this record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from macaw.emu.nnp.arithmetic import Arithmetic, Host
from macaw.emu.nnp.arrivals import Arrivals, Pieces
from macaw.emu.nnp.elements import CODES, FIELDS, TILES, Elements, Iteration, Written
from macaw.emu.nnp.numbers import Quantised
from macaw.emu.nnp.schedules.chain import Chain
from macaw.emu.nnp.schedules.timing import Timing
from macaw.emu.nnp.state import NnpState
from macaw.emu.origins import Origin, Origins, Place, Source, WindowPart
from macaw.isa.nnp import FILE, SCALARS

_MEMORIES = {name: memory for memory, name in FIELDS.items()}
_STEP_ELEMENTS = 64  # the number of recorded elements that count as one step


class ChainOrigins(Origins):
    """Records what the iterations of chains wrote, and finds the origins of these values."""

    can_be_partial = False
    fields = frozenset((*FIELDS.values(), FILE.name, "net_in", "net_out"))
    clears = frozenset(("net_in", "net_out"))
    codes = frozenset((CODES, TILES))

    def __init__(
        self,
        state: NnpState,
        timing: Timing,
        arithmetic: Arithmetic,
        number: Callable[[], int],
        now: Callable[[], int],
    ) -> None:
        super().__init__(number)
        self.state, self.timing, self.native = state, timing, timing.native
        self.now = now  # returns the core's time
        self.elements = Elements(state, self.native, arithmetic, self._last_writer)
        self._iteration: Iteration | None = None  # the iteration that is being executed
        self._steps = 0
        # by memory and entry: the writes
        self._entry_writers: dict[tuple[str, int], list[Written]] = {}
        self._dram_writers: dict[int, Written] = {}  # by number of an announcement: the write
        self._setters: dict[str, Origin] = {}  # by register: what set it last
        self._settings: dict[str, list[Origin]] = {}  # by register: everything that set it
        self.arrivals = Arrivals(timing.vector_bytes, len(state.net_in) + len(state.popped))
        self._popped: list[Pieces] = [self.arrivals.pop_vector() for _ in state.popped]
        self._net_out: list[Written | None] = [None] * len(state.net_out)
        # By announcement number of a read of NetOutQ: first byte of the read, first byte of the
        # vector, and the vector.
        self._pulls: dict[int, list[tuple[int, int, Written | None]]] = {}

    @property
    def step_count(self) -> int:
        return self._steps

    # Reports of the core

    def set_register(self, name: str, value: int) -> None:
        """Record that the s_wr at `pc` sets the register `name` to `value`."""
        self._set(name, Origin(self.number(), self.now(), "s_wr", self.state.pc, "", value))

    def _set(self, name: str, origin: Origin) -> None:
        self._setters = {**self._setters, name: origin}
        self._settings.setdefault(name, []).append(origin)

    def set_by_message(self, parts: list[tuple[str, int, Pieces]]) -> None:
        """Record that the head of a message sets registers.

        Each item of `parts` is (register name, value, pieces). The pieces say which accesses
        brought the word of the message that sets the register.
        """
        for name, value, pieces in parts:
            sources = [Source("message", x.number, window_part=x) for x in pieces if x.number >= 0]
            number, time = self.number(), self.now()
            self._set(
                name, Origin(number, time, "message", None, "", value, partial(iter, sources))
            )

    def pop_vector(self) -> None:
        """Record that the chain takes a vector from NetInQ."""
        self._popped.append(self.arrivals.pop_vector())

    def begin_iteration(self, chain: Chain) -> None:
        """Start the record of the iteration of `chain` that the core executes next."""
        state = self.state
        self._iteration = Iteration(
            self.number(), self.now(), chain, state.iteration, state.base,
            tuple(address for address, _ in state.chain), self._setters, popped=self._popped,
        )  # fmt: skip
        self._popped = []
        access = chain.writes[0]
        if chain.is_tiles and access.memory.setting:
            for place in self._iteration.places(access):
                if place is not None and (access.memory.name, place) not in self._entry_writers:
                    self.elements.save_initial(place)

    def record_result(self, at: int, values: Host, operand: Host | None = None) -> None:
        """Record the result of instruction `at` of the chain, and the instruction's second operand.

        Both have shape (1, vectors, N).
        """
        assert self._iteration is not None
        self._iteration.results[at] = values[0].copy()
        self._steps += 1 + values.size // _STEP_ELEMENTS
        if operand is not None:
            self._iteration.operands[at] = operand[0].copy()

    def record_vectors(self, vectors: Quantised) -> None:
        """Record the quantised vectors, of shape (1, vectors, N), that a product multiplies."""
        assert self._iteration is not None
        self._iteration.vectors = Quantised(vectors.codes[0].copy(), vectors.exponents[0].copy())

    def end_iteration(self) -> None:
        """Complete the record of an iteration, which has now written its vectors or tiles."""
        assert self._iteration is not None
        now, self._iteration = self._iteration, None
        size = self.timing.tile_bytes if now.chain.is_tiles else self.timing.vector_bytes
        for access in now.chain.writes:
            for which, place in enumerate(now.places(access)):
                one = now, access, which
                if access.memory.queue:
                    self._net_out.append(one)
                elif access.memory.setting:
                    assert place is not None
                    self._entry_writers.setdefault((access.memory.name, place), []).append(one)
                else:
                    assert place is not None
                    self._dram_writers[self.number()] = one
                    self.on_move("write", self.now(), now.base + place * size, size)

    def record_tiles(self, values: Host) -> None:
        """Record the tiles (count, N, N) that an iteration moved; complete the iteration's record.

        `values` are the tiles as the host values that the iteration read.
        """
        assert self._iteration is not None
        now, state = self._iteration, self.state
        now.results[0] = values.copy()
        self._steps += 1 + values.size // _STEP_ELEMENTS
        access = now.chain.writes[0]
        if access.memory.setting:
            places = [place for place in now.places(access) if place is not None]
            bias = self.elements.arithmetic.matrix.bias
            exponents = state.tile_exponents[places].astype(np.int8) - bias
            now.tiles = Quantised(state.tile_codes[places].copy(), exponents)
        self.end_iteration()

    def pull(self, before: int, size: int) -> None:
        """Record that another core has read `size` bytes from NetOutQ.

        `before` is the number of bytes of NetOutQ's first vector that earlier calls have recorded.
        """
        whole = self.timing.vector_bytes
        pieces = []
        done = 0
        while done < size:
            some = min(whole - before, size - done)
            pieces.append((done, before, self._net_out[0]))
            done, before = done + some, before + some
            if before == whole:
                self._net_out.pop(0)
                before = 0
        self._pulls[self.number() - 1] = pieces

    # Questions

    def writers(self, number: int, address: int, size: int) -> Iterator[Origin]:
        record = self._dram_writers.get(number)
        if record is None:
            return
        now, access, which = record
        place = now.places(access)[which]
        assert place is not None
        vector = self.native * (self.native if now.chain.is_tiles else 1) * self.elements.item
        yield from self.elements.of_bytes(record, address - (now.base + place * vector), size)

    def outgoing(self, part: WindowPart) -> Iterator[Origin]:
        end = part.first + part.size
        pieces = self._pulls.get(part.number)
        if not pieces:
            return
        for (first, before, record), after in zip(
            pieces, [*pieces[1:], (end, 0, None)], strict=True
        ):
            low, high = max(first, part.first), min(after[0], end)
            if record is not None and low < high:
                for origin in self.elements.of_bytes(record, before + low - first, high - low):
                    assert origin.part is not None
                    origin.part = origin.part[0] + low - part.first, origin.part[1]
                    yield origin

    def display_name(self, place: Place) -> str:
        if place.field not in self.codes:
            return ""
        memory = _MEMORIES[place.field]
        if place.field == CODES:
            entry, column = divmod(place.first // self.state.initial_codes.itemsize, self.native)
            return f"{memory}[{entry}][{column}]"
        number = place.first // self.state.tile_codes.itemsize
        tile, inside = divmod(number, self.native * self.native)
        row, column = divmod(inside, self.native)
        return f"{memory}[{tile}][{row}, {column}]"

    def array_size(self, field: str) -> int:
        memory = _MEMORIES.get(field)
        return 0 if memory is None else self.elements.entries(memory).nbytes

    def makers(self, place: Place, before: int) -> Iterator[Origin]:
        if place.field == FILE.name:
            yield from self._scalars(place, before)
        elif place.field in ("net_in", "net_out"):
            yield from self._queued(place)
        else:
            yield from self._entries(place, before)

    def _scalars(self, place: Place, before: int) -> Iterator[Origin]:
        scalars = self.state.scalars
        for number, part in place.items(scalars.itemsize, scalars.nbytes):
            settings = self._settings.get(SCALARS[number].name, ())
            earlier = [x for x in settings if x.number < before]
            if earlier:
                origin = earlier[-1]
                origin.part = part
                yield origin

    def _queued(self, place: Place) -> Iterator[Origin]:
        """Yield the origins of the vectors that are now in NetInQ or NetOutQ.

        `place` names one of these queues and a range of its vectors.
        """
        chosen = slice(place.first, place.first + place.size if place.size else None)
        if place.field == "net_out":
            for number, record in list(enumerate(self._net_out))[chosen]:
                if record is not None:
                    for origin in self.elements.of_bytes(record, 0, self.timing.vector_bytes):
                        origin.part = number - place.first, 1
                        yield origin
            return
        for number, vector in list(enumerate(self.arrivals.vectors))[chosen]:
            sources = [Source("came in", x.number, window_part=x) for x in vector if x.number >= 0]
            at = max((x.number for x in vector), default=-1)
            if at >= 0:
                origin = Origin(at, self.now(), "NetInQ", sources=partial(iter, sources))
                origin.part = number - place.first, 1
                yield origin

    def _entries(self, place: Place, before: int) -> Iterator[Origin]:
        """Yield the origins of elements of a register file; `place` says which elements.

        Writes from announcement number `before` on are ignored. Announcements are events for
        listeners, numbered from the start of the record.
        """
        memory = _MEMORIES[place.field]
        entries = self.elements.entries(memory)
        for element, part in place.items(entries.itemsize, entries.nbytes):
            entry, inside = divmod(element, entries[0].size)
            record = self._last_writer(memory, entry, before)
            if record is not None:
                origin = self.elements.element(*record, *divmod(inside, self.native))
                origin.part = part
                yield origin

    def _last_writer(self, memory: str, entry: int, before: int) -> Written | None:
        for record in reversed(self._entry_writers.get((memory, entry), ())):
            if record[0].number < before:
                return record
        return None
