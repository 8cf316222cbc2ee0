"""The permute multiply-accumulate (seed 002 ¶60-¶75): it permutes, multiplies, adds four products.

Sources are vector registers as views of 16 bytes, results are 16 new bytes. A function reads all
sources before the caller writes the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
        return np.asarray(lanes[np.asarray(order)])
    except IndexError:
        raise _bad_entry(order, len(lanes)) from None


def _bad_entry(order: Order, lanes: int) -> Fault:
    """Return the fault for the first entry of an order that is not a lane's index."""
    place, index = next(x for x in enumerate(order) if x[1] >= lanes)
    return bad_index(place, int(index), lanes)


def entries(value: int, form: PmacFormat) -> list[int]:
    """Decode a permutation of lanes from `value`, which comes from general registers.

    Return its entries; the first one is in the lowest bits.
    """
    bits = form.order_bits
    return [value >> bits * place & (1 << bits) - 1 for place in range(form.lanes)]


def _integers(form: PmacFormat, source: str) -> Function:
    """Return the pmac function for a format of integers.

    It uses Python's integers, which are faster than NumPy's for so few lanes.
    """
    unpack = Struct(f"<{form.lanes}{np.dtype(source).char}").unpack
    size = VECTOR_BYTES // form.results
    mask = (1 << 8 * size) - 1
    groups = range(0, form.lanes, GROUP)

    def pmac(first: Bytes, second: Bytes, order: Order, old: Bytes | None) -> bytes:
        right = unpack(second)
        try:
            m = [left * right[index] for left, index in zip(unpack(first), order, strict=False)]
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
    """Return the pmac function for a format of floats.

    It computes `old + (((m0 + m1) + m2) + m3)`, where the m are the products of a group. Each step
    is rounded to binary32.
    """

    def pmac(first: Bytes, second: Bytes, order: Order, old: Bytes | None) -> NDArray[np.uint8]:
        right = permute(np.frombuffer(second, source), order).astype(np.float32)
        m = (np.frombuffer(first, source).astype(np.float32) * right).reshape(form.results, GROUP)
        sums = ((m[:, 0] + m[:, 1]) + m[:, 2]) + m[:, 3]
        result = np.zeros((form.results, GROUP // form.results), np.float32)
        if old is not None:
            sums = np.frombuffer(old, np.float32).reshape(result.shape)[:, 0] + sums
        result[:, 0] = np.where(np.isnan(sums), _NAN, sums)
        return result.reshape(-1).view(np.uint8)

    return pmac


def _function(name: str, form: PmacFormat) -> Function:
    source = f"<{ {'u': 'u', 's': 'i', 'f': 'f'}[name[0]] }{form.bits // 8}"
    if name[0] == "f":
        return _floating(form, source)
    return _integers(form, source[1:])


FUNCTIONS = {name: _function(name, form) for name, form in PMAC_FORMATS.items()}


def general(first: int, second: int, order: int, old: int, signed: bool) -> int:
    """Return the result of pmac.gr, of 32 bits.

    It multiplies four bytes of each source and adds the products to `old`. The low 8 bits of
    `order` are the permutation, two bits for each byte.
    """
    sign = 0x80 if signed else 0
    total = old
    for lane in range(GROUP):
        left = first >> 8 * lane & 0xFF
        right = second >> 8 * (order >> 2 * lane & 3) & 0xFF
        total += ((left ^ sign) - sign) * ((right ^ sign) - sign)
    return total & 0xFFFF_FFFF
