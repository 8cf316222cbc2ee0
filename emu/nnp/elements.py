"""Finds the origin of an element that a chain wrote, back to the inputs of the chain.

The origin is the instruction that wrote the element. The source of its value is the result of the
previous instruction in the chain, and so on. The last source is an input of the chain: an entry of
a register file, a vector from NetInQ, or bytes of Dram. The sources of a product are its non-zero
products, each with its weight and activation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.arithmetic import Arithmetic, Host
from macaw.emu.nnp.arrivals import Pieces, slice_pieces
from macaw.emu.nnp.numbers import Quantised, dequantise
from macaw.emu.nnp.schedules.chain import Chain
from macaw.emu.nnp.state import HOST_FILES, NnpState
from macaw.emu.origins import Origin, Place, Source
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.nnp import RESET, STEPS, WINDOW
from macaw.isa.nnp_chains import step
from macaw.isa.nnp_entries import Access

CODES = "initial_codes"  # the values in an entry of InitialVrf
TILES = "matrix_codes"  # the values in an entry of MatrixRf
FIELDS = {**HOST_FILES, "InitialVrf": CODES, "MatrixRf": TILES}
"""The field of the state of each register file."""
Setters = Mapping[str, Origin]


@dataclass
class Iteration:
    """The record of an iteration of a chain: number `index`, executed in cycle `time`.

    `number` is the number of announcements before it, `base` is the base address of Dram. `setters`
    has the origin of the value of each register. `results` and `operands` have the results and
    second operands of instructions; the key is the index of the instruction in the chain. `vectors`
    are the vectors that the product multiplies, `tiles` the tiles written to MatrixRf, and `popped`
    says where the vectors from NetInQ came from.
    """

    number: int
    time: int
    chain: Chain
    index: int
    base: int
    addresses: tuple[int, ...]  # of the chain's instructions
    setters: Setters
    results: dict[int, Host] = field(default_factory=dict)  # by `at`: results of shape (vectors, N)
    # by `at`: second operands, from register files
    operands: dict[int, Host] = field(default_factory=dict)
    vectors: Quantised | None = None
    tiles: Quantised | None = None
    popped: list[Pieces] = field(default_factory=list)

    def places(self, access: Access) -> list[int | None]:
        """Return the entries of an access. None in the result stands for a vector of zeros
        (padding).
        """
        return list(access.addresses(self.index, self.chain.volume))


# An iteration, one of its writes, and the index of the vector or tile in the iteration.
Written = tuple[Iteration, Access, int]
# A function that returns what wrote an entry of a memory last before an announcement number.
WriterLookup = Callable[[str, int, int], Written | None]


class Elements:
    """Finds the origins of elements of vectors and tiles."""

    def __init__(
        self, state: NnpState, native: int, arithmetic: Arithmetic, writer: WriterLookup
    ) -> None:
        self.state, self.arithmetic, self.writer = state, arithmetic, writer
        self.native = native
        # by entry: the tile before its first write since recording began
        self.initial: dict[int, Quantised] = {}
        self.item = int(arithmetic.dtype.itemsize)  # bytes in a host value

    def entries(self, memory: str) -> NDArray[Any]:
        """Return all entries of the register file `memory`.

        They have shape (entries, N), or (tiles, N, N) for MatrixRf.
        """
        field = "tile_codes" if FIELDS[memory] == TILES else FIELDS[memory]
        entries: NDArray[Any] = getattr(self.state, field)
        return entries

    def of_bytes(self, written: Written, first: int, size: int) -> Iterator[Origin]:
        """Yield the origins of the elements in bytes `first` to `first` + `size` - 1 of `written`.

        `written` is a vector or a tile.
        """
        for element in range(first // self.item, -(-(first + size) // self.item)):
            origin = self.element(*written, *divmod(element, self.native))
            origin.part = element * self.item - first, self.item
            yield origin

    def element(self, now: Iteration, access: Access, which: int, row: int, element: int) -> Origin:
        """Return the origin of one element of vector or tile number `which` of an iteration.

        `now` is the iteration, and `access` is its write. `row` is the number of the element's row
        in a tile; for a vector it is 0.
        """
        if now.chain.is_tiles:
            return self._tile(now, which, row, element)
        last = max(now.results)
        values = now.results[last][which]
        if FIELDS.get(access.memory.name) == CODES:
            values = self._stored(values)
        value = values[element].item()
        source = partial(self._result_source, now, last, which, element)
        return self._step(now, access.at, value, lambda: iter((source(),)))

    def _stored(self, values: Host) -> Host:
        """Return the numbers that an entry of InitialVrf has after a vector was written there."""
        quantiser = self.arithmetic.vector
        quantised = self.arithmetic.quantise(values[None], quantiser)
        stored: Host = self.arithmetic.to_host(quantised, quantiser)[0]
        return stored

    def _step(
        self, now: Iteration, at: int, value: Any, sources: Callable[[], Iterator[Source]]
    ) -> Origin:
        row = now.chain.rows[at].row.mnemonic
        return Origin(now.number, now.time, row, now.addresses[at], "", value, sources)

    def _result_source(self, now: Iteration, at: int, vector: int, element: int) -> Source:
        """Return, as a source, an element of the result of instruction `at` in iteration `now`.

        The element is number `element` of the result's vector number `vector`.
        """
        value = now.results[at][vector, element].item()
        sources = partial(self._sources, now, at, vector, element)
        origin = self._step(now, at, value, sources)
        return Source("chain", now.number, None, None, origin, value)

    def _sources(self, now: Iteration, at: int, vector: int, element: int) -> Iterator[Source]:
        """Yield the values from which instruction `at` computed an element, and its settings.

        Settings are the registers that the instruction uses. The element is number `element` of
        vector number `vector` of the result in the iteration `now`.
        """
        yield from self._settings(now, at)
        chain = now.chain
        product = chain.product
        if at == 0:
            yield self._source(now, chain.source, vector, element)
        elif product is not None and at == product.at:
            yield from self._products(now, product, vector, element)
        elif step(chain.rows[at]).does == "v_softmax":
            for place in range(chain.scalars["valid"]):
                yield self._result_source(now, at - 1, *divmod(place, self.native))
        else:
            yield self._result_source(now, at - 1, vector, element)
        if at in now.operands:
            access = next(x.operand for x in chain.operations if x.at == at)
            assert access is not None
            yield self._source(now, access, vector, element, now.operands[at])

    def _source(
        self, now: Iteration, access: Access, vector: int, element: int, values: Host | None = None
    ) -> Source:
        """Return as a source one element that an access of an iteration read.

        `now` is the iteration; the element is number `element` of vector number `vector`. `values`
        are the vectors that were read; None stands for the result of the access's instruction.
        """
        value = (now.results[access.at] if values is None else values)[vector, element].item()
        name, number = access.memory.name, now.number
        if access.memory.queue:
            return self._popped_element(now, vector, element, value)
        place = now.places(access)[vector]
        if place is None:
            origin = Origin(number, now.time, "padding", now.addresses[access.at], "", value)
            return Source("padding", number, None, None, origin, value)
        if not access.memory.setting:
            address = now.base + (place * self.native + element) * self.item
            return Source(name, number, (address, self.item), value=value)
        size = self.entries(name).itemsize
        first = (place * self.native + element) * size
        return Source(name, number, place=Place(FIELDS[name], first, size), value=value)

    def _popped_element(self, now: Iteration, vector: int, element: int, value: Any) -> Source:
        for piece in slice_pieces(now.popped[vector], element * self.item, self.item)[:1]:
            some = None if piece.number < 0 else piece
            return Source("NetInQ", now.number, value=value, window_part=some)
        return Source("NetInQ", now.number, value=value)

    def _products(
        self, now: Iteration, product: Access, row: int, element: int
    ) -> Iterator[Source]:
        """Yield the non-zero products (of a weight and an activation) whose sum is the element.

        If all products are zero, the first one stands for them, so that the search for the cause
        can go on. The element is number `element` of vector number `row` of the result of
        `product`, in the iteration `now`.
        """
        assert now.vectors is not None
        cols = now.chain.scalars["cols"]
        numbers = dequantise(now.vectors, self.arithmetic.vector)
        begin = product.begin(now.index, now.chain.volume) + row * cols
        rows = [self._weights(begin + column, element, now.number) for column in range(cols)]
        pairs = np.argwhere(np.array(rows) * numbers[:cols]).tolist() or [[0, 0]]
        for column, k in pairs:
            tile, weights = begin + column, rows[column]
            place = self._tile_place((tile * self.native + element) * self.native + k)
            weight, number = float(weights[k]), float(numbers[column][k])
            parts = [
                Source("weight", now.number, place=place, value=weight),
                self._result_source(now, 0, column, k),
            ]
            origin = self._step(now, product.at, weight * number, partial(iter, parts))
            yield Source("product", now.number, None, None, origin, origin.value)

    def _tile_place(self, number: int) -> Place:
        """Return the place in the declared state of element `number` of MatrixRf.

        `number` counts the elements of all tiles.
        """
        size = self.state.tile_codes.itemsize
        return Place(TILES, number * size, size)

    def _weights(self, tile: int, row: int, before: int) -> NDArray[np.float64]:
        """Return row `row` of a tile of MatrixRf, as it was before announcement number `before`.

        The result has shape (N,).
        """
        written = self.writer("MatrixRf", tile, before)
        if written is not None and written[0].tiles is not None:
            return self._row(written[0].tiles, written[2], row)
        # No chain has written the tile since recording began.
        return self._row(self.initial.get(tile) or self._read_tile(tile), 0, row)

    def save_initial(self, tile: int) -> None:
        """Keep a copy of a tile before the first write to it since recording began."""
        self.initial[tile] = self._read_tile(tile)

    def _read_tile(self, tile: int) -> Quantised:
        """Return a copy of a tile of MatrixRf as it is now."""
        exponents = self.state.tile_exponents[tile].astype(np.int8) - self.arithmetic.matrix.bias
        return Quantised(self.state.tile_codes[tile][None].copy(), exponents[None])

    def _row(self, tiles: Quantised, which: int, row: int) -> NDArray[np.float64]:
        """Return row `row` of tile number `which` of `tiles` as exact values of shape (N,)."""
        one = Quantised(tiles.codes[which, row][None], tiles.exponents[which, row][None])
        return np.asarray(dequantise(one, self.arithmetic.matrix)[0])

    def _tile(self, now: Iteration, which: int, row: int, element: int) -> Origin:
        """Return the origin of an element that m_wr wrote in iteration `now`.

        The element has number `element` in row `row` of tile number `which`.
        """
        read = now.results[0][which, row, element].item()
        value = read
        if now.tiles is not None:
            value = float(self._row(now.tiles, which, row)[element])

        def sources() -> Iterator[Source]:
            origin = self._step(
                now, 0, read, lambda: self._tile_source(now, which, row, element, read)
            )
            yield Source("tile", now.number, None, None, origin, read)

        return self._step(now, now.chain.writes[0].at, value, sources)

    def _tile_source(
        self, now: Iteration, which: int, row: int, element: int, value: Any
    ) -> Iterator[Source]:
        """Yield the sources of an element of a tile that the iteration `now` read.

        `which` is the number of the tile in the iteration, `row` and `element` are the element's
        row and its number in the row. `value` is its value.
        """
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
        """Yield as sources the registers that instruction `at` uses: their values and origins.

        These are the values in the iteration `now`.
        """
        names = STEPS[now.chain.rows[at].row.mnemonic].scalars
        if at == 0 and now.chain.source.window:
            names = WINDOW
        if "inc" in now.chain.rows[at].values and now.chain.scalars["unit"] != RESET["unit"]:
            names = (*names, "unit")
        for name in names:
            origin, value = now.setters.get(name), now.chain.scalars[name]
            yield Source(name, now.number, None, None, origin, value, setting=True)
