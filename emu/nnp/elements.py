"""From an element that a chain wrote back through its instructions to what it read.

Who asks for an element gets the instruction that made it, and below it that of the chain before it,
down to the entry, the vector from NetInQ or the bytes of Dram with which the chain began; of a
product each weight with its number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.numbers import Quantised, dequantise
from macaw.emu.nnp.state import BIAS, HOST_FILES
from macaw.emu.nnp.streams import Vector, part
from macaw.emu.origins import Origin, Place, Source
from macaw.isa.nnp import STEPS, WINDOW
from macaw.isa.nnp_chains import step

if TYPE_CHECKING:
    from macaw.emu.nnp.chain import Chain
    from macaw.emu.nnp.processor import Processor
    from macaw.emu.nnp.semantics import Host
    from macaw.isa.nnp_entries import Access

CODES = "initial_codes"  # of InitialVrf
TILES = "matrix_codes"  # of MatrixRf
FIELDS = {**HOST_FILES, "InitialVrf": CODES, "MatrixRf": TILES}
"""The field of the state of each register file."""
Setters = Mapping[str, Origin]


@dataclass
class Iteration:
    """An iteration of a chain: what it was made of. `at` is an instruction's place in the chain."""

    number: int  # of announcements before it
    time: int
    chain: Chain
    turn: int  # which iteration it is
    base: int  # of Dram
    addresses: tuple[int, ...]  # of its instructions
    setters: Setters  # who set the registers that it has
    values: dict[int, Host] = field(default_factory=dict)  # by `at`: what came out, (vectors, N)
    operands: dict[int, Host] = field(default_factory=dict)
    vectors: Quantised | None = None  # of the product
    tiles: Quantised | None = None  # that it wrote to MatrixRf
    popped: list[Vector] = field(default_factory=list)  # from NetInQ

    def places(self, access: Access) -> list[int | None]:
        """The entries of an access; None: a vector of zeros."""
        return list(access.addresses(self.turn, self.chain.volume))


# An iteration, one of its writes, and which of its vectors or tiles it is.
Wrote = tuple[Iteration, "Access", int]
Writer = Callable[[str, int, int], Wrote | None]  # of a memory's entry, before a number


class Elements:
    """The steps that made elements of vectors and tiles."""

    def __init__(self, core: Processor, writer: Writer) -> None:
        self.state, self.arithmetic, self.writer = core.state, core.arithmetic, writer
        self.native = core.memories.native
        self.first: dict[int, Quantised] = {}  # by tile: what it held when all this began
        self.item = int(core.memories.dtype.itemsize)  # bytes of a host value

    def entries(self, memory: str) -> NDArray[Any]:
        """What a register file holds, entry by entry."""
        field = "tile_codes" if FIELDS[memory] == TILES else FIELDS[memory]
        found: NDArray[Any] = getattr(self.state, field)
        return found

    def bytes_of(self, found: Wrote, first: int, size: int) -> Iterator[Origin]:
        """Who made the elements in which some bytes of a written vector or tile lie."""
        for element in range(first // self.item, -(-(first + size) // self.item)):
            made = self.element(*found, *divmod(element, self.native))
            made.part = element * self.item - first, self.item
            yield made

    def element(self, now: Iteration, access: Access, which: int, row: int, element: int) -> Origin:
        """An element as an instruction wrote it; `row` is that of a tile."""
        if now.chain.is_tiles:
            return self._tile(now, which, row, element)
        last = max(now.values)
        value = now.values[last][which, element].item()
        chain = partial(self._chain, now, last, which, element)
        return self._step(now, access.at, value, lambda: iter((chain(),)))

    def _step(
        self, now: Iteration, at: int, value: Any, sources: Callable[[], Iterator[Source]]
    ) -> Origin:
        row = now.chain.rows[at].row.mnemonic
        return Origin(now.number, now.time, row, now.addresses[at], "", value, sources)

    def _chain(self, now: Iteration, at: int, vector: int, element: int) -> Source:
        """An element of what came out of an instruction of the chain."""
        value = now.values[at][vector, element].item()
        sources = partial(self._sources, now, at, vector, element)
        made = self._step(now, at, value, sources)
        return Source("chain", now.number, None, None, made, value)

    def _sources(self, now: Iteration, at: int, vector: int, element: int) -> Iterator[Source]:
        """What an instruction made an element of."""
        yield from self._settings(now, at)
        chain = now.chain
        product = chain.product
        if at == 0:
            yield self._source(now, chain.source, vector, element)
        elif product is not None and at == product.at:
            yield from self._products(now, product, vector, element)
        elif step(chain.rows[at]).does == "v_softmax":
            for place in range(chain.scalars["valid"]):
                yield self._chain(now, at - 1, *divmod(place, self.native))
        else:
            yield self._chain(now, at - 1, vector, element)
        if at in now.operands:
            access = next(x.operand for x in chain.operations if x.at == at)
            assert access is not None
            yield self._source(now, access, vector, element, now.operands[at])

    def _source(
        self, now: Iteration, access: Access, vector: int, element: int, values: Host | None = None
    ) -> Source:
        """An element that an iteration read."""
        value = (now.values[access.at] if values is None else values)[vector, element].item()
        name, number = access.memory.name, now.number
        if access.memory.queue:
            return self._popped_element(now, vector, element, value)
        place = now.places(access)[vector]
        if place is None:
            made = Origin(number, now.time, "padding", now.addresses[access.at], "", value)
            return Source("padding", number, None, None, made, value)
        if not access.memory.setting:
            address = now.base + (place * self.native + element) * self.item
            return Source(name, number, (address, self.item), value=value)
        size = self.entries(name).itemsize
        first = (place * self.native + element) * size
        return Source(name, number, place=Place(FIELDS[name], first, size), value=value)

    def _popped_element(self, now: Iteration, vector: int, element: int, value: Any) -> Source:
        for piece in part(now.popped[vector], element * self.item, self.item)[:1]:
            some = None if piece.number < 0 else piece
            return Source("NetInQ", now.number, value=value, passed=some)
        return Source("NetInQ", now.number, value=value)

    def _products(
        self, now: Iteration, product: Access, row: int, element: int
    ) -> Iterator[Source]:
        """The products of a weight and a number that are not 0."""
        assert now.vectors is not None
        cols = now.chain.scalars["cols"]
        numbers = dequantise(now.vectors, self.arithmetic.vector)
        for column in range(cols):
            tile = product.begin(now.turn, now.chain.volume) + row * cols + column
            weights = self._weights(tile, element, now.number)
            for k in np.flatnonzero(weights * numbers[column]).tolist():
                place = self._tile_place((tile * self.native + element) * self.native + k)
                weight, number = float(weights[k]), float(numbers[column][k])
                parts = [
                    Source("weight", now.number, place=place, value=weight),
                    self._chain(now, 0, column, k),
                ]
                made = self._step(now, product.at, weight * number, partial(iter, parts))
                yield Source("product", now.number, None, None, made, made.value)

    def _tile_place(self, number: int) -> Place:
        """An element of MatrixRf."""
        size = self.state.tile_codes.itemsize
        return Place(TILES, number * size, size)

    def _weights(self, tile: int, row: int, before: int) -> NDArray[np.float64]:
        """A row of a tile of MatrixRf as it was."""
        found = self.writer("MatrixRf", tile, before)
        if found is not None and found[0].tiles is not None:
            return self._row(found[0].tiles, found[2], row)
        # Nobody had written it since the record began.
        return self._row(self.first.get(tile) or self._held(tile), 0, row)

    def keep(self, tile: int) -> None:
        """A tile is about to be written for the first time."""
        self.first[tile] = self._held(tile)

    def _held(self, tile: int) -> Quantised:
        """A tile of MatrixRf as it is."""
        exponents = self.state.tile_exponents[tile].astype(np.int8) - BIAS
        return Quantised(self.state.tile_codes[tile][None].copy(), exponents[None])

    def _row(self, tiles: Quantised, which: int, row: int) -> NDArray[np.float64]:
        """A row of one of some quantised tiles."""
        one = Quantised(tiles.codes[which, row][None], tiles.exponents[which, row][None])
        return np.asarray(dequantise(one, self.arithmetic.matrix)[0])

    def _tile(self, now: Iteration, which: int, row: int, element: int) -> Origin:
        """An element of a tile as m_wr wrote it."""
        read = now.values[0][which, row, element].item()
        value = read
        if now.tiles is not None:
            value = float(self._row(now.tiles, which, row)[element])

        def sources() -> Iterator[Source]:
            made = self._step(
                now, 0, read, lambda: self._tile_source(now, which, row, element, read)
            )
            yield Source("tile", now.number, None, None, made, read)

        return self._step(now, now.chain.writes[0].at, value, sources)

    def _tile_source(
        self, now: Iteration, which: int, row: int, element: int, value: Any
    ) -> Iterator[Source]:
        """An element of a tile that an iteration read."""
        yield from self._settings(now, 0)
        access, name = now.chain.source, now.chain.source.memory.name
        if access.memory.queue:
            yield self._popped_element(now, which * self.native + row, element, value)
            return
        place = now.places(access)[which]
        assert place is not None
        first = (place * self.native + row) * self.native + element
        if not access.memory.setting:
            address = now.base + first * self.item
            yield Source(name, now.number, (address, self.item), value=value)
        else:
            yield Source(name, now.number, place=self._tile_place(first), value=value)

    def _settings(self, now: Iteration, at: int) -> Iterator[Source]:
        """The registers that an instruction uses: their values, and who set them."""
        names = STEPS[now.chain.rows[at].row.mnemonic].scalars
        if at == 0 and now.chain.source.window:
            names = WINDOW
        for name in names:
            made, value = now.setters.get(name), now.chain.scalars[name]
            yield Source(name, now.number, None, None, made, value, setting=True)
