"""The permute multiply-accumulate (seed 002 ¶60-¶75): it permutes, multiplies, adds four products.

Sources are vector registers as views of 16 bytes, results are 16 new bytes. A function reads all
sources before the caller writes the result to a register.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import itemgetter, mul
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.isa.vector import GROUP, PMAC_FORMATS, PmacFormat
from macaw.isa.vector_layouts import VECTOR_BYTES

Bytes = memoryview
# for each lane of the first source, the index of the second source's lane
Order = Bytes | Sequence[int]
Function = Callable[[Bytes, Bytes, Order, Bytes | None], NDArray[np.uint8] | bytes]
Rows = NDArray[np.uint8]  # the sources of many pmac, one row of 16 bytes for each
Reduction = Callable[[Rows, Rows, Order, bytes], bytes]

_NAN = np.float32(np.nan)


def bad_index(place: int, index: int, lanes: int) -> Fault:
    """Return the fault for an entry of an order that is not the index of a lane.

    An order is a permutation of the lanes. `place` is the position of the entry, `index` its value.
    """
    return Fault(
        "bad order index",
        f"entry {place} of the order is {index}, the lanes are 0 to {lanes - 1}",
        {"entry": place, "index": index, "lanes": lanes},
    )


def permute(lanes: NDArray[Any], order: Order) -> NDArray[Any]:
    """Permute lanes by `order`: lane i of the result is lane `order[i]`.

    Raises `Fault` (bad order index).
    """
    try:
        return np.asarray(lanes[..., np.asarray(order)])
    except IndexError:
        raise _bad_entry(order, lanes.shape[-1]) from None


@lru_cache(maxsize=256)
def _permutation(order: bytes) -> itemgetter[tuple[int, ...]]:
    """Return a function that permutes a tuple of lanes by `order`."""
    return itemgetter(*order)


def _bad_entry(order: Order, lanes: int) -> Fault:
    """Return the fault for the first entry of `order` that is `lanes` or more."""
    place, index = next(x for x in enumerate(order) if x[1] >= lanes)
    return bad_index(place, int(index), lanes)


def entries(value: int, form: PmacFormat) -> list[int]:
    """Return the entries of an order that `value`, from general registers, contains.

    `form` is the format of the pmac. The first entry is in the lowest bits.
    """
    bits = form.order_bits
    return [value >> bits * place & (1 << bits) - 1 for place in range(form.lanes)]


def _integers(form: PmacFormat, source: str) -> Function:
    """Return the pmac function for a format of integers, with sources of the NumPy type `source`.

    It uses Python's integers, which are faster than NumPy's for so few lanes.
    """
    unpack = Struct(f"<{form.lanes}{np.dtype(source).char}").unpack
    size = VECTOR_BYTES // form.results
    mask = (1 << 8 * size) - 1
    groups = range(0, form.lanes, GROUP)

    def pmac(first: Bytes, second: Bytes, order: Order, old: Bytes | None) -> bytes:
        try:
            right = _permutation(bytes(order))(unpack(second))
            m = list(map(mul, unpack(first), right))
        except IndexError:
            raise _bad_entry(order, form.lanes) from None
        # All lanes form one number of 128 bits; the mask drops the bits that overflow a lane.
        before = 0 if old is None else int.from_bytes(old, "little")
        whole = 0
        for place, at in enumerate(groups):
            total = m[at] + m[at + 1] + m[at + 2] + m[at + 3]
            whole |= (total + (before >> 8 * size * place) & mask) << 8 * size * place
        return whole.to_bytes(VECTOR_BYTES, "little")

    return pmac


def _floating(form: PmacFormat, source: str) -> Function:
    """Return the pmac function for a format of floats, with sources of the NumPy type `source`.

    It computes `old + (((m0 + m1) + m2) + m3)`, where the m are the products of a group. Each step
    is rounded to binary32.
    """

    def pmac(first: Bytes, second: Bytes, order: Order, old: Bytes | None) -> NDArray[np.uint8]:
        left, right = np.frombuffer(first, source), np.frombuffer(second, source)
        sums = _sum_groups(left, right, order)
        if old is not None:
            sums = _sums_in(old, form) + sums
        return _float_result(sums, form)

    return pmac


def _sum_groups(first: NDArray[Any], second: NDArray[Any], order: Order) -> NDArray[np.float32]:
    """Return `((m0 + m1) + m2) + m3` for each group of products m of two sources.

    The last axis of the sources `first` and `second` are lanes; `order` permutes the lanes of
    `second`.
    """
    m = first.astype(np.float32) * permute(second, order).astype(np.float32)
    m = m.reshape(*m.shape[:-1], -1, GROUP)
    return np.asarray(((m[..., 0] + m[..., 1]) + m[..., 2]) + m[..., 3])


def _sums_in(register: Bytes, form: PmacFormat) -> NDArray[np.float32]:
    """Return the sums in a register whose format is `form`, a format of floats.

    Four source lanes give one sum. In the place of these lanes, the lowest bytes contain the sum
    as a binary32 number.
    """
    return np.frombuffer(register, np.float32)[:: GROUP // form.results]


def _float_result(sums: NDArray[np.float32], form: PmacFormat) -> NDArray[np.uint8]:
    """Return the register that contains these sums in the format `form` of floats.

    If a sum's place in the register is wider than binary32, the bits above the sum are 0.
    """
    result = np.zeros((form.results, GROUP // form.results), np.float32)
    result[:, 0] = np.where(np.isnan(sums), _NAN, sums)
    return result.reshape(-1).view(np.uint8)


# Many products that add to one register, one after the other


def _reduce_floats(form: PmacFormat, source: str) -> Reduction:
    """Return the function that does a pmac of floats for many passes of a loop at once.

    Its result has the same bits as if the function of `_floating` did one pass after the other.
    """

    def reduce(first: Rows, second: Rows, order: Order, old: bytes) -> bytes:
        sums = _sum_groups(first.view(source), second.view(source), order)
        before = _sums_in(memoryview(old), form)
        # `accumulate` adds in the order of the rows; NaN stays NaN
        whole = np.add.accumulate(np.concatenate((before[None], sums)), axis=0)[-1]
        return _float_result(whole, form).tobytes()

    return reduce


def _reduce_integers(form: PmacFormat, source: str) -> Reduction:
    """Return the function that does a pmac of integers for many passes of a loop at once.

    Its result has the same bits as if the function of `_integers` did one pass after the other. It
    multiplies matrices of binary64 numbers. Lanes of 32 bits are first split into pieces of 16
    bits. So each product has at most 32 bits, and the sum of up to 2**19 groups of products is
    exact.
    """
    width = 8 * VECTOR_BYTES // form.results
    mask = (1 << width) - 1
    groups = range(0, form.lanes, GROUP)

    @lru_cache(maxsize=64)
    def find_places(order: bytes) -> NDArray[np.int64]:
        """Return the indices of the products that `order` selects, in a flattened matrix.

        Row i, column j of the matrix has lane i of the first source times lane j of the second one.
        """
        entries = np.frombuffer(order, np.uint8).astype(np.int64)
        return entries + form.lanes * np.arange(form.lanes)

    def pieces(rows: Rows) -> list[tuple[int, NDArray[np.float64]]]:
        numbers = rows.view(source)
        if numbers.itemsize < 4:
            return [(0, numbers.astype(np.float64))]
        low, high = numbers & 0xFFFF, numbers >> 16
        return [(0, low.astype(np.float64)), (16, high.astype(np.float64))]

    def reduce(first: Rows, second: Rows, order: Order, old: bytes) -> bytes:
        entries = bytes(order)
        if max(entries) >= form.lanes:
            raise _bad_entry(order, form.lanes)
        places = find_places(entries)
        before = int.from_bytes(old, "little")
        sums = [before >> width * place for place in range(form.results)]
        for low, left in pieces(first):
            for high, right in pieces(second):
                m = np.dot(left.T, right).take(places).tolist()
                for place, at in enumerate(groups):
                    sums[place] += int(m[at] + m[at + 1] + m[at + 2] + m[at + 3]) << low + high
        whole = 0
        for place, total in enumerate(sums):
            whole |= (total & mask) << width * place
        return whole.to_bytes(VECTOR_BYTES, "little")

    return reduce


def _function(name: str, form: PmacFormat) -> Function:
    if name[0] == "f":
        return _floating(form, _source(name, form))
    return _integers(form, _source(name, form))


def _reduction(name: str, form: PmacFormat) -> Reduction:
    return (_reduce_floats if name[0] == "f" else _reduce_integers)(form, _source(name, form))


def _source(name: str, form: PmacFormat) -> str:
    """Return the NumPy type of the source lanes of the pmac format `form`, called `name`."""
    return f"<{ {'u': 'u', 's': 'i', 'f': 'f'}[name[0]] }{form.bits // 8}"


FUNCTIONS = {name: _function(name, form) for name, form in PMAC_FORMATS.items()}
# By format: a function that returns the sums' register after many pmac with `acc`. Its sources have
# a row for each pmac.
REDUCTIONS = {name: _reduction(name, form) for name, form in PMAC_FORMATS.items()}


def general(first: int, second: int, order: int, old: int, signed: bool) -> int:
    """Return the result of pmac.gr, of 32 bits.

    It multiplies the four bytes of `first` by those of `second`, signed or unsigned as `signed`
    says, and adds the products to `old`. The low 8 bits of `order` are the permutation, two bits
    for each byte.
    """
    sign = 0x80 if signed else 0
    total = old
    for lane in range(GROUP):
        left = first >> 8 * lane & 0xFF
        right = second >> 8 * (order >> 2 * lane & 3) & 0xFF
        total += ((left ^ sign) - sign) * ((right ^ sign) - sign)
    return total & 0xFFFF_FFFF
