"""The permuted multiply-accumulate (seed 002 ¶60-¶75): products by an order, summed in groups.

Sources are vector registers as arrays of 16 bytes, results are new ones. Nothing is written
before everything has been read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emu.faults import Fault
from isa.vector import GROUP, PMAC_FORMATS, PmacFormat
from isa.vector_layouts import VECTOR_BYTES

Bytes = NDArray[np.uint8]
Order = Bytes | Sequence[int]  # for each lane of the first source the lane of the second
Function = Callable[[Bytes, Bytes, Order, Bytes | None], Bytes]

_NAN = np.float32(np.nan)
_ALL = (1 << 8 * VECTOR_BYTES) - 1


def bad_index(place: int, index: int, lanes: int) -> Fault:
    """The fault of an order's entry that names no lane."""
    return Fault(
        "bad order index",
        f"entry {place} of the order is {index}, the lanes are 0 to {lanes - 1}",
        {"entry": place, "index": index, "lanes": lanes},
    )


def permuted(lanes: NDArray[Any], order: Order) -> NDArray[Any]:
    """The lanes in the order. Raises `Fault` (bad order index)."""
    try:
        return lanes[order]
    except IndexError:
        for place, index in enumerate(order):
            if index >= len(lanes):
                raise bad_index(place, int(index), len(lanes)) from None
        raise


def entries(value: int, form: PmacFormat) -> list[int]:
    """The entries of an order in general registers, the first one lowest."""
    bits = form.order_bits
    return [value >> bits * place & (1 << bits) - 1 for place in range(form.lanes)]


def _narrow(form: PmacFormat, source: str) -> Function:
    """Of 8 and 16 bits: a result has 32 or 64."""
    wide = np.dtype(f"<{source[0]}{VECTOR_BYTES // form.results}")

    def pmac(first: Bytes, second: Bytes, order: Order, old: Bytes | None) -> Bytes:
        left = first.view(source).astype(wide)
        products = left * permuted(second.view(source), order)
        sums = np.add.reduce(products.reshape(form.results, GROUP), 1, dtype=wide)
        if old is not None:
            sums += old.view(wide)
        return np.asarray(sums.view(np.uint8))

    return pmac


def _wide(form: PmacFormat, source: str) -> Function:
    """Of 32 bits: the result has 128."""

    def pmac(first: Bytes, second: Bytes, order: Order, old: Bytes | None) -> Bytes:
        right = permuted(second.view(source), order).tolist()
        total = sum(x * y for x, y in zip(first.view(source).tolist(), right, strict=True))
        if old is not None:
            total += int.from_bytes(old.tobytes(), "little")
        return np.frombuffer((total & _ALL).to_bytes(VECTOR_BYTES, "little"), np.uint8)

    return pmac


def _floating(form: PmacFormat, source: str) -> Function:
    """Of floats: `old + (((m0 + m1) + m2) + m3)`, each step rounded to binary32."""

    def pmac(first: Bytes, second: Bytes, order: Order, old: Bytes | None) -> Bytes:
        right = permuted(second.view(source), order).astype(np.float32)
        m = (first.view(source).astype(np.float32) * right).reshape(form.results, GROUP)
        sums = ((m[:, 0] + m[:, 1]) + m[:, 2]) + m[:, 3]
        result = np.zeros((form.results, GROUP // form.results), np.float32)
        if old is not None:
            sums = old.view(np.float32).reshape(result.shape)[:, 0] + sums
        result[:, 0] = np.where(np.isnan(sums), _NAN, sums)
        return result.reshape(-1).view(np.uint8)

    return pmac


def _function(name: str, form: PmacFormat) -> Function:
    source = f"<{ {'u': 'u', 's': 'i', 'f': 'f'}[name[0]] }{form.bits // 8}"
    if name[0] == "f":
        return _floating(form, source)
    return (_wide if form.bits == 32 else _narrow)(form, source[1:])


FUNCTIONS = {name: _function(name, form) for name, form in PMAC_FORMATS.items()}


def general(first: int, second: int, order: int, old: int, signed: bool) -> int:
    """pmac.gr: four bytes of each source, the order in the low 8 bits, a result of 32 bits."""
    sign = 0x80 if signed else 0
    total = old
    for lane in range(GROUP):
        left = first >> 8 * lane & 0xFF
        right = second >> 8 * (order >> 2 * lane & 3) & 0xFF
        total += ((left ^ sign) - sign) * ((right ^ sign) - sign)
    return total & 0xFFFF_FFFF
