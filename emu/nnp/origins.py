"""Where what chains wrote came from: the vectors of each step of each iteration, as they were.

The reference engine tells of every iteration; what it made of what, `macaw.emu.nnp.elements` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from macaw.emu.nnp.elements import FIELDS, Elements, Iteration, Wrote
from macaw.emu.nnp.numbers import Quantised
from macaw.emu.nnp.state import BIAS
from macaw.emu.nnp.streams import Stream, Vector
from macaw.emu.origins import Origin, Origins, Passed, Place, Source
from macaw.isa.nnp import FILE, SCALARS

if TYPE_CHECKING:
    from macaw.emu.nnp.chain import Chain
    from macaw.emu.nnp.processor import Processor
    from macaw.emu.nnp.semantics import Host

_MEMORIES = {name: memory for memory, name in FIELDS.items()}
_ELEMENTS = 64  # that count as one step, of what is kept


class ChainOrigins(Origins):
    """Remembers the iterations of chains."""

    fields = frozenset((*FIELDS.values(), FILE.name, "net_in", "net_out"))
    clears = frozenset(("net_in", "net_out"))

    def __init__(self, core: Processor, number: Callable[[], int]) -> None:
        super().__init__(number)
        self.core = core
        self.native = core.memories.native
        self.elements = Elements(core, self._writer)
        self._now: Iteration | None = None
        self._kept = 0
        # By memory and entry: who wrote it, and which of the iteration's vectors or tiles it is.
        self._writers: dict[tuple[str, int], list[Wrote]] = {}
        self._written: dict[int, Wrote] = {}  # of Dram, by number
        self._setters: dict[str, Origin] = {}
        self._set: dict[str, list[Origin]] = {}
        state = core.state
        self.coming = Stream(core.timing.vector_bytes, len(state.net_in) + len(state.popped))
        self._popped: list[Vector] = [self.coming.take() for _ in state.popped]
        self._leaving: list[Wrote | None] = [None] * len(state.net_out)
        self._given: dict[int, list[tuple[int, int, Wrote | None]]] = {}

    @property
    def kept(self) -> int:
        return self._kept

    # What the core tells

    def set(self, name: str, value: int) -> None:
        """The instruction at `pc` sets a register."""
        self._sets(
            name, Origin(self.number(), self.core.time, "s_wr", self.core.state.pc, "", value)
        )

    def _sets(self, name: str, made: Origin) -> None:
        self._setters = {**self._setters, name: made}
        self._set.setdefault(name, []).append(made)

    def message(self, parts: list[tuple[str, int, Vector]]) -> None:
        """The head of a message sets registers: name, value, where its word came from."""
        for name, value, pieces in parts:
            sources = [Source("message", x.number, passed=x) for x in pieces if x.number >= 0]
            made = Origin(
                self.number(), self.core.time, "message", None, "", value, partial(iter, sources)
            )
            self._sets(name, made)

    def pop(self) -> None:
        """The chain takes a vector from NetInQ."""
        self._popped.append(self.coming.take())

    def begin(self, chain: Chain) -> None:
        """An iteration is about to be done."""
        state = self.core.state
        self._now = Iteration(
            self.number(), self.core.time, chain, state.iteration, state.base,
            tuple(address for address, _ in state.chain), self._setters, popped=self._popped,
        )  # fmt: skip
        self._popped = []
        access = chain.writes[0]
        if chain.is_tiles and access.memory.setting:
            for place in self._now.places(access):
                if place is not None and (access.memory.name, place) not in self._writers:
                    self.elements.keep(place)

    def came(self, at: int, values: Host, operand: Host | None = None) -> None:
        """What came out of an instruction of the chain, and its operand: (1, vectors, N)."""
        assert self._now is not None
        self._now.values[at] = values[0].copy()
        self._kept += 1 + values.size // _ELEMENTS
        if operand is not None:
            self._now.operands[at] = operand[0].copy()

    def multiplies(self, vectors: Quantised) -> None:
        """The vectors of a product."""
        assert self._now is not None
        self._now.vectors = Quantised(vectors.codes[0].copy(), vectors.exponents[0].copy())

    def wrote(self) -> None:
        """The iteration has written its vectors."""
        assert self._now is not None
        now, self._now = self._now, None
        for access in now.chain.writes:
            size = (
                self.core.timing.tile_bytes if now.chain.is_tiles else self.core.timing.vector_bytes
            )
            for which, place in enumerate(now.places(access)):
                one = now, access, which
                if access.memory.queue:
                    self._leaving.append(one)
                elif access.memory.setting:
                    assert place is not None
                    self._writers.setdefault((access.memory.name, place), []).append(one)
                else:
                    assert place is not None
                    self._written[self.number()] = one
                    self.told("write", self.core.time, now.base + place * size, size)

    def tiles(self, values: Host) -> None:
        """The iteration has moved tiles, (count, N, N) as they were read."""
        assert self._now is not None
        now, state = self._now, self.core.state
        now.values[0] = values.copy()
        self._kept += 1 + values.size // _ELEMENTS
        access = now.chain.writes[0]
        if access.memory.setting:
            places = [place for place in now.places(access) if place is not None]
            exponents = state.tile_exponents[places].astype(np.int8) - BIAS
            now.tiles = Quantised(state.tile_codes[places].copy(), exponents)
        self.wrote()

    def pulled(self, before: int, size: int) -> None:
        """Somebody took bytes from NetOutQ, whose first vector had lost `before` already."""
        whole = self.core.timing.vector_bytes
        pieces = []
        done = 0
        while done < size:
            some = min(whole - before, size - done)
            pieces.append((done, before, self._leaving[0]))
            done, before = done + some, before + some
            if before == whole:
                self._leaving.pop(0)
                before = 0
        self._given[self.number() - 1] = pieces

    # Questions

    def written(self, number: int, address: int, size: int) -> Iterator[Origin]:
        found = self._written.get(number)
        if found is None:
            return
        now, access, which = found
        place = now.places(access)[which]
        assert place is not None
        vector = self.native * (self.native if now.chain.is_tiles else 1) * self.elements.item
        yield from self.elements.bytes_of(found, address - (now.base + place * vector), size)

    def given(self, passed: Passed) -> Iterator[Origin]:
        end = passed.first + passed.size
        pieces = self._given.get(passed.number)
        if not pieces:
            return
        for (first, before, found), after in zip(
            pieces, [*pieces[1:], (end, 0, None)], strict=True
        ):
            low, high = max(first, passed.first), min(after[0], end)
            if found is not None and low < high:
                for made in self.elements.bytes_of(found, before + low - first, high - low):
                    assert made.part is not None
                    made.part = made.part[0] + low - passed.first, made.part[1]
                    yield made

    def called(self, place: Place) -> str:
        memory = _MEMORIES.get(place.field)
        if memory != "MatrixRf":
            return ""
        number = place.first // self.core.state.tile_codes.itemsize
        tile, inside = divmod(number, self.native * self.native)
        row, column = divmod(inside, self.native)
        return f"{memory}[{tile}][{row}, {column}]"

    def made(self, place: Place, before: int) -> Iterator[Origin]:
        if place.field == FILE.name:
            yield from self._scalars(place, before)
        elif place.field in ("net_in", "net_out"):
            yield from self._queued(place)
        else:
            yield from self._entries(place, before)

    def _scalars(self, place: Place, before: int) -> Iterator[Origin]:
        scalars = self.core.state.scalars
        for number, part in place.items(scalars.itemsize, scalars.nbytes):
            made = [x for x in self._set.get(SCALARS[number].name, ()) if x.number < before]
            if made:
                found = made[-1]
                found.part = part
                yield found

    def _queued(self, place: Place) -> Iterator[Origin]:
        """What is in a queue now."""
        chosen = slice(place.first, place.first + place.size if place.size else None)
        if place.field == "net_out":
            for number, found in list(enumerate(self._leaving))[chosen]:
                if found is not None:
                    for made in self.elements.bytes_of(found, 0, self.core.timing.vector_bytes):
                        made.part = number - place.first, 1
                        yield made
            return
        for number, vector in list(enumerate(self.coming.vectors))[chosen]:
            sources = [Source("came in", x.number, passed=x) for x in vector if x.number >= 0]
            at = max((x.number for x in vector), default=-1)
            if at >= 0:
                made = Origin(at, self.core.time, "NetInQ", sources=partial(iter, sources))
                made.part = number - place.first, 1
                yield made

    def _entries(self, place: Place, before: int) -> Iterator[Origin]:
        """Elements of register files."""
        memory = _MEMORIES[place.field]
        entries = self.elements.entries(memory)
        for element, part in place.items(entries.itemsize, entries.nbytes):
            entry, inside = divmod(element, entries[0].size)
            found = self._writer(memory, entry, before)
            if found is not None:
                made = self.elements.element(*found, *divmod(inside, self.native))
                made.part = part
                yield made

    def _writer(self, memory: str, entry: int, before: int) -> Wrote | None:
        for found in reversed(self._writers.get((memory, entry), ())):
            if found[0].number < before:
                return found
        return None
