"""The semantics of Xvc: what each operation computes on lanes, in a function with its name.

`macaw.isa.vector.OPERATIONS` names operation and element of a mnemonic. A function gets the vector
registers that the row reads as arrays of the element type (integers are signed), in the order of
the operands. Its further arguments are the general registers (for 64 bits the value of a pair) and
the constants, as numbers. It returns a new array of 16 bytes, or a number. The caller writes a
number to general registers, or to every lane of a vector register.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.numerics import exponential, round_half_even_shift
from macaw.isa.vector_layouts import VECTOR_BYTES, Element

Lanes = NDArray[Any]


def dtype_of(element: Element) -> np.dtype[Any]:
    """Return the NumPy type of a register's lanes; unsigned bytes for an element without a name."""
    if element.name[:1] == "f":
        return np.dtype(f"<f{element.bits // 8}")
    return np.dtype(f"<i{element.bits // 8}" if element.name else np.uint8)


def _bits(lanes: Lanes) -> Lanes:
    """Return a view of the lanes as unsigned integers."""
    return lanes.view(f"<u{lanes.itemsize}")


def _canonical(lanes: Lanes) -> Lanes:
    """Replace each NaN of floating-point lanes by the canonical NaN, in place. Return the lanes."""
    if lanes.dtype.kind == "f":
        lanes[np.isnan(lanes)] = np.nan
    return lanes


_INTEGERS = {f"{kind}{size}": np.dtype(f"<{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)}
_WIDER = {
    dtype: _INTEGERS[f"{dtype.kind}{2 * dtype.itemsize}"]
    for dtype in _INTEGERS.values()
    if dtype.itemsize < 8
}
_LIMITS = {
    dtype: (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) for dtype in _INTEGERS.values()
}


def _wider(lanes: Lanes) -> np.dtype[Any]:
    return _WIDER[lanes.dtype]


# Move


def vmov(a: Lanes) -> Lanes:
    return a


def vperm(a: Lanes, b: Lanes, index: Lanes) -> Lanes:
    table = np.concatenate((a, b))
    bad = np.flatnonzero(index >= len(table))
    if bad.size:
        place = int(bad[0])
        raise Fault(
            "bad order index",
            f"byte {place} of the index is {index[place]}, the bytes are 0 to {len(table) - 1}",
            {"entry": place, "index": int(index[place]), "lanes": len(table)},
        )
    return table[index]


def vsplat(a: int) -> int:
    return a


def vins(old: Lanes, a: int, lane: int) -> Lanes:
    new = old.copy()
    _bits(new)[lane] = a & _ones(old.dtype)
    return new


def vext(a: Lanes, lane: int) -> int:
    return int(a[lane])


def vextu(a: Lanes, lane: int) -> int:
    return int(_bits(a)[lane])


def _ones(dtype: np.dtype[Any]) -> int:
    return (1 << 8 * dtype.itemsize) - 1


# Arithmetic


def vadd(a: Lanes, b: Lanes) -> Lanes:
    return _canonical(a + b)


def vsub(a: Lanes, b: Lanes) -> Lanes:
    return _canonical(a - b)


def vmul(a: Lanes, b: Lanes) -> Lanes:
    return _canonical(a * b)


def vmulh(a: Lanes, b: Lanes) -> Lanes:
    return (a.astype(_wider(a)) * b >> 8 * a.itemsize).astype(a.dtype)


def vmulhu(a: Lanes, b: Lanes) -> Lanes:
    return vmulh(_bits(a), _bits(b))


def vdiv(a: Lanes, b: Lanes) -> Lanes:
    return _canonical(a / b)


def vsqrt(a: Lanes) -> Lanes:
    return _canonical(np.sqrt(a))


def vexp(a: Lanes) -> Lanes:
    return _canonical(exponential(a))


def vmin(a: Lanes, b: Lanes) -> Lanes:
    if a.dtype.kind == "i":
        return np.minimum(a, b)
    least = np.where(a == b, (_bits(a) | _bits(b)).view(a.dtype), np.minimum(a, b))
    return _numbers(a, b, least)  # -0 counts as less than 0


def vminu(a: Lanes, b: Lanes) -> Lanes:
    return np.minimum(_bits(a), _bits(b))


def vmax(a: Lanes, b: Lanes) -> Lanes:
    if a.dtype.kind == "i":
        return np.maximum(a, b)
    greatest = np.where(a == b, (_bits(a) & _bits(b)).view(a.dtype), np.maximum(a, b))
    return _numbers(a, b, greatest)


def vmaxu(a: Lanes, b: Lanes) -> Lanes:
    return np.maximum(_bits(a), _bits(b))


def _numbers(a: Lanes, b: Lanes, chosen: Lanes) -> Lanes:
    """Return `chosen`; but where `a` is a NaN, return `b`, and where `b` is a NaN, return `a`.

    NumPy's fmin and fmax cannot be used, because they treat signalling NaNs differently.
    """
    return _canonical(np.where(np.isnan(a), b, np.where(np.isnan(b), a, chosen)))


def vabs(a: Lanes) -> Lanes:
    if a.dtype.kind == "i":
        return np.abs(a)
    return _bits(a) & (_ones(a.dtype) >> 1)


def vneg(a: Lanes) -> Lanes:
    if a.dtype.kind == "i":
        return -a
    return _bits(a) ^ (_ones(a.dtype) // 2 + 1)


# Shift


def vsll(a: Lanes, b: Lanes) -> Lanes:
    return np.asarray(np.left_shift(_bits(a), _bits(b) & 8 * a.itemsize - 1))


def vsrl(a: Lanes, b: Lanes) -> Lanes:
    return np.asarray(np.right_shift(_bits(a), _bits(b) & 8 * a.itemsize - 1))


def vsra(a: Lanes, b: Lanes) -> Lanes:
    return np.asarray(np.right_shift(a, b & 8 * a.itemsize - 1))


def vslli(a: Lanes, shamt: int) -> Lanes:
    return _bits(a) << shamt


def vsrli(a: Lanes, shamt: int) -> Lanes:
    return _bits(a) >> shamt


def vsrai(a: Lanes, shamt: int) -> Lanes:
    return a >> shamt


# Width


def _half(a: Lanes, half: int) -> Lanes:
    lanes = len(a) // 2
    return a[half * lanes : (half + 1) * lanes]


def vwiden(a: Lanes, half: int) -> Lanes:
    return _half(a, half).astype(_wider(a))


def vwidenu(a: Lanes, half: int) -> Lanes:
    return vwiden(_bits(a), half)


def vnarrow(a: Lanes, b: Lanes, shamt: int) -> Lanes:
    return _narrowed(a, b, shamt, _INTEGERS[f"i{a.itemsize // 2}"])


def vnarrowu(a: Lanes, b: Lanes, shamt: int) -> Lanes:
    return _narrowed(a, b, shamt, _INTEGERS[f"u{a.itemsize // 2}"])


def _narrowed(a: Lanes, b: Lanes, shamt: int, to: np.dtype[Any]) -> Lanes:
    lanes = np.concatenate((a, b))
    if shamt == 8 * a.itemsize - 1:  # the sum below might need one bit more
        lanes = round_half_even_shift(lanes, shamt)
    elif shamt:
        floor = lanes >> shamt
        rest = lanes & (1 << shamt) - 1
        lanes = floor + (rest + (floor & 1) > 1 << shamt - 1)  # a half rounds up from odd numbers
    low, high = _LIMITS[to]
    return np.asarray(np.minimum(np.maximum(lanes, low), high).astype(to))


# Compare


def _all_ones(where: NDArray[np.bool_], like: Lanes) -> Lanes:
    return -where.astype(f"<i{like.itemsize}")


def vceq(a: Lanes, b: Lanes) -> Lanes:
    return _all_ones(a == b, a)


def vclt(a: Lanes, b: Lanes) -> Lanes:
    return _all_ones(a < b, a)


def vcltu(a: Lanes, b: Lanes) -> Lanes:
    return vclt(_bits(a), _bits(b))


def vcle(a: Lanes, b: Lanes) -> Lanes:
    return _all_ones(a <= b, a)


def vcleu(a: Lanes, b: Lanes) -> Lanes:
    return vcle(_bits(a), _bits(b))


def vsel(a: Lanes, b: Lanes, mask: Lanes) -> Lanes:
    return a & mask | b & ~mask


# Convert


def vcvt_f32(a: Lanes, half: int | None = None) -> Lanes:
    """Convert lanes to binary32: all four lanes of integers, or four of eight lanes of binary16.

    `half` selects the low or the high four.
    """
    return _canonical((a if half is None else _half(a, half)).astype(np.float32))


def vcvt_w(a: Lanes) -> Lanes:
    low, high = _LIMITS[np.dtype(np.int32)]
    rounded = np.rint(a.astype(np.float64))
    # fmin of a NaN and `high` is `high`
    return np.fmax(np.fmin(rounded, high), low).astype(np.int32)


def vcvt_f16(a: Lanes, b: Lanes) -> Lanes:
    return _canonical(np.concatenate((a, b)).astype(np.float16))


# Sum


def vsum(a: Lanes) -> Lanes:
    if a.dtype.kind == "f":
        total = _canonical(np.add.accumulate(a.astype(np.float32))[-1:])
    else:
        total = np.add.reduce(a, dtype=_wider(a), keepdims=True)
    result = np.zeros(VECTOR_BYTES // total.itemsize, total.dtype)
    result[0] = total[0]
    return result


def vsumu(a: Lanes) -> Lanes:
    return vsum(_bits(a))


def function(name: str) -> Callable[..., Any]:
    """Return the function of the operation `name`, for example `vcvt_w` for `vcvt.w`."""
    found: Callable[..., Any] = globals()[name.replace(".", "_")]
    return found
