"""Loops that only load vector registers and add products (pmac): many passes are done at once.

A pass is one execution of the loop's instructions. A block may begin with such a loop, whose passes
all take the same time. Then its function calls a `Reduction` before the first pass. The reduction
does as many passes as it can: it updates vector registers, and returns the number of passes. For
these passes, the function then updates the general registers that the loop steps, and the time. It
does the remaining passes itself, at least one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pages import Pages
from macaw.emu.scalar.fast.loops import Steps, added
from macaw.emu.scalar.semantics import MASK
from macaw.emu.vector import pmac
from macaw.emu.vector.binding import order_of
from macaw.emu.vector.core import VectorCore
from macaw.emu.vector.scoreboard import registers
from macaw.emu.vector.state import FIRST_VECTOR
from macaw.isa.codec import Decoded
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.typed_records import NamedTuple
from macaw.isa.vector import OPERATIONS
from macaw.isa.vector_layouts import VECTOR_BYTES

FEWEST = 6  # fewer passes take less time one by one
MOST = 1 << 10  # passes that are done at once

Rows = NDArray[np.uint8]  # of a vector register: one row for each pass, or one for all


class Series(NamedTuple):
    """A number that grows by a constant (perhaps 0) from each pass of a loop to the next.

    In pass p, counted from 0, the number is the register's value before pass 0, plus `distance`,
    plus p times `by`.
    """

    register: int  # the number of the general register
    distance: int  # the number in the first pass, minus the register's value before this pass
    by: int  # what each pass adds


class Load(NamedTuple):
    """A load of a whole vector register."""

    register: int  # the number of the vector register
    address: Series  # from the start of the memory


class Product(NamedTuple):
    """A pmac that adds to the vector register `result`.

    `name` is the name of its format. The sources are the vector register `first` and the register
    `second`; `order` returns the order of the lanes of the second source.
    """

    name: str
    result: int
    first: int
    second: int
    order: Callable[[], pmac.Order]


class _Uses:
    """The vector registers that the instructions of a pass have loaded, added to or read so far."""

    def __init__(self) -> None:
        self.loads: dict[int, Load] = {}
        self.products: list[Product] = []
        self.reads: set[int] = set()

    def load(self, load: Load) -> bool:
        """Add a load. Return False if an earlier instruction of the pass uses the load's
        register.
        """
        register = load.register
        if register in self.loads or register in self.reads or self._results(register):
            return False
        self.loads[register] = load
        return True

    def add(self, product: Product, reads: Iterable[int]) -> bool:
        """Add a product, which reads the registers `reads` besides its result.

        Return False if the products of all passes cannot be added up at once. This is so if a pass
        reads a register to which it or an earlier pass adds, or if two products add to one register
        in different formats or in floating point, where the order of the additions matters.
        """
        result = product.result
        earlier = self._results(result)
        self.products.append(product)
        self.reads.update(reads)
        if any(other.name != product.name for other in earlier):
            return False
        if earlier and product.name[0] == "f":
            return False
        results = {other.result for other in self.products}
        return not (results & self.reads or results & self.loads.keys())

    def _results(self, register: int) -> list[Product]:
        return [product for product in self.products if product.result == register]


class Reduction:
    """A loop of loads and products on the vector registers `vr` and the memory `pages`.

    `branch` has the numbers that the branch at the end of the loop compares. `taken` gets them as
    arrays, one per number, with an element for each pass. It returns an array that says after which
    passes the branch goes back to the start of the loop.
    """

    def __init__(
        self,
        pages: Pages,
        vr: NDArray[np.uint8],
        loads: Sequence[Load],
        products: Sequence[Product],
        branch: Sequence[Series],
        taken: Callable[..., Any],
    ) -> None:
        self.pages, self.vr = pages, [row.data for row in vr]
        self.loads, self.products = loads, products
        self.branch, self.taken = branch, taken
        # the distances of `branch` in all passes
        self._distances = [series.distance + series.by * np.arange(MOST) for series in branch]
        self.find_exit = lru_cache(maxsize=64)(self._find_exit)

    def __call__(self, passes: int, x: Sequence[int]) -> int:
        """Do at most `passes` passes, and return how many were done.

        `x` has the values of the general registers before the first pass.
        """
        starts = []
        most = self.pages.size - VECTOR_BYTES
        for _, (register, distance, by) in self.loads:
            at = x[register] + distance
            if not 0 <= at <= most or at % VECTOR_BYTES:
                return 0
            if by:
                passes = min(passes, ((most - at) // by if by > 0 else at // -by) + 1)
            starts.append(at)
        values = [x[series.register] for series in self.branch]
        passes = min(passes, self.find_exit(*values))
        if passes < FEWEST:
            return 0
        rows: dict[int, Rows] = {}
        shape, array = (passes, VECTOR_BYTES), self.pages.array
        for (register, (_, _, by)), at in zip(self.loads, starts, strict=True):
            rows[register] = np.ndarray(shape, np.uint8, array, at, (by, 1))
        results: dict[int, bytes] = {}
        try:
            for name, result, first, second, order in self.products:
                old = results[result] if result in results else bytes(self.vr[result])
                one, other = self._rows(rows, first, passes), self._rows(rows, second, passes)
                results[result] = pmac.REDUCTIONS[name](one, other, order(), old)
        except Fault:
            return 0  # the first pass faults
        for (register, (_, _, by)), at in zip(self.loads, starts, strict=True):
            last = at + by * (passes - 1)
            self.vr[register][:] = self.pages.bytes[last : last + VECTOR_BYTES]
        for register, data in results.items():
            self.vr[register][:] = data
        return passes

    def _find_exit(self, *values: int) -> int:
        """Return how many passes end with a jump back to the loop's start, but at most `MOST`.

        `values` are the values of the registers in `branch` before the first pass.
        """
        distances = zip(values, self._distances, strict=True)
        taken = self.taken(*[value + distance & MASK for value, distance in distances])
        first = int(taken.argmin())  # where it is false, or 0
        return MOST if taken[first] else first

    def _rows(self, rows: dict[int, Rows], register: int, passes: int) -> Rows:
        """Return the values of a vector register in all passes, of shape (passes, bytes).

        `rows` has the values of the registers that each pass loads. A register that is not in
        `rows` has the same value in all passes.
        """
        if register in rows:
            return rows[register]
        row = np.frombuffer(self.vr[register], np.uint8)
        return np.broadcast_to(row, (passes, VECTOR_BYTES))


def find_reduction(
    core: VectorCore, loop: Sequence[Decoded], steps: Steps, condition: str
) -> Reduction | None:
    """Return a `Reduction` that does many passes of a loop at once; None if this is not possible.

    `loop` has the instructions of a pass; the last one is a branch to the first one. `steps` says
    by how much a pass changes each general register. `condition` is a Python expression of the
    registers' variables (`x10`), which is true if the branch is taken.
    """
    uses, back = _Uses(), len(loop) - 1
    for place, found in enumerate(loop[:-1]):
        values, row = found.values, found.row
        if added(found) is not None and steps.of(values["rd"], place) is not None:
            continue
        operation = OPERATIONS.get(row.mnemonic)
        if operation is None:
            return None
        if operation.name == "vld":
            step = steps.of(values["rs1"], place)
            if step is None or step.by % VECTOR_BYTES:
                return None
            distance = step.before + values["imm"] - EXTERNAL
            if not uses.load(Load(values["rd"], Series(values["rs1"], distance, step.by))):
                return None
        elif operation.name == "pmac" and values["acc"]:
            sources = values["rs1"], values["rs2"]
            places = registers(row.operands[3].kind, values["rs3"])
            changes = [steps.of(x, place) for x in places if x < FIRST_VECTOR]
            orders = [x - FIRST_VECTOR for x in places if x >= FIRST_VECTOR]
            product = Product(operation.element, values["rd"], *sources, order_of(core, found))
            is_constant = all(step is not None and not step.by for step in changes)
            if not is_constant or uses.loads.keys() & set(orders):
                return None
            if not uses.add(product, (*sources, *orders)):
                return None
        else:
            return None
    branch = loop[-1]
    if not uses.products or branch.row.family != "branch":
        return None
    series = {}
    for name in ("rs1", "rs2"):
        register = branch.values[name]
        step = steps.of(register, back)
        if step is None:
            return None
        if register:
            series[register] = Series(register, step.before, step.by)
    if not series:
        return None
    arguments = ", ".join(f"x{register}" for register in series)
    taken = eval(f"lambda {arguments}: {condition}")
    loads = list(uses.loads.values())
    external = core.device.memory.external
    return Reduction(external, core.vr, loads, uses.products, list(series.values()), taken)
