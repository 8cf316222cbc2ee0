"""Values of the device as expressions see them: memory, tensors, bytes by a type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault

if TYPE_CHECKING:
    from macaw.debugger.places import Place
    from macaw.emu.device import Device
    from macaw.emu.pages import Pages

# Types by which bytes are looked at: `vc.vr3.u8[2]`.
VIEWS = {
    **{f"u{bits}": np.dtype(f"<u{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"i{bits}": np.dtype(f"<i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"<f{bits // 8}") for bits in (16, 32, 64)},
}
WORD = VIEWS["u32"]
Indices = Sequence[Any]  # the values of the subscripts that are no places, in their order
Spot = tuple[
    str, int, int
]  # of a core's state: field, first byte of it (of a list: item), how many


class AccessError(ValueError):
    """A name that means nothing, or a value that cannot be; the message is fit for a user."""


@dataclass(frozen=True)
class Access:
    """A value of the device that a path names.

    `read(*indices)` gives it as it is now, `write(value, *indices)` sets it, where that can be.
    """

    text: str
    read: Callable[..., Any]
    write: Callable[..., None] | None = None
    cores: frozenset[str] = frozenset()  # whose acts may change it
    memory: bool = False  # it lies in memory: whoever writes may change it
    extent: Callable[..., tuple[int, int]] | None = None  # of memory: address, bytes
    whole: bool = False  # always a whole number
    bits: int = 64  # it is one of so many bits
    live: str = ""  # as Python text for a break of its core: `x[10]`
    stands: Callable[..., Spot] | None = None  # of the state of the one core: where it stands
    # Of memory: the same at given indices, if translated code may look there: the view, the place
    # in it, the memory.
    inlined: Callable[..., tuple[Any, int, Pages] | None] | None = None
    registers: frozenset[tuple[Place, str, int]] = frozenset()  # that it is of: file, number
    queues: frozenset[tuple[Place, str]] = frozenset()  # that it is of


def viewed(value: Any, dtype: np.dtype[Any], text: str) -> Any:
    """Bytes, numbers or arrays as elements of a type."""
    if isinstance(value, int):
        bits = max(32 if -(1 << 31) <= value < 1 << 32 else 64, 8 * dtype.itemsize)
        found = np.frombuffer((value & (1 << bits) - 1).to_bytes(bits // 8, "little"), dtype)
        return found[0] if len(found) == 1 else found
    if isinstance(value, np.integer | np.floating):
        found = viewed(np.array([value]), dtype, text)
        return found[0] if len(found) == 1 else found
    if isinstance(value, bytes | bytearray):
        value = np.frombuffer(value, np.uint8)
    if not isinstance(value, np.ndarray):
        raise AccessError(f"{text} has no bytes to be looked at as {dtype.name}")
    try:
        return value.view(dtype) if value.ndim == 1 else np.ascontiguousarray(value).view(dtype)
    except ValueError:
        raise AccessError(f"{text} does not divide into numbers of {dtype.name}") from None


def fitting(value: Any, dtype: np.dtype[Any], text: str) -> Any:
    """A value as a type has it. Raises `AccessError` if it is out of range."""
    array = np.asarray(value)
    if dtype.kind in "iu" and array.dtype.kind in "iub":
        limits = np.iinfo(dtype)
        low = -(1 << 8 * dtype.itemsize - 1)  # as in a source, either signedness will do
        high = max(limits.max, (1 << 8 * dtype.itemsize) - 1)
        for item in (int(array.min()), int(array.max())) if array.size else ():
            if not low <= item <= high:
                raise AccessError(f"{item} does not fit {text}, {limits.min} to {limits.max}")
        return array.astype(np.uint64 if array.dtype == np.uint64 else np.int64).astype(dtype)
    if dtype.kind in "iu" and array.dtype.kind == "f":
        raise AccessError(f"{text} holds whole numbers")
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # it is infinite then
            return array.astype(dtype)
    except (TypeError, ValueError):
        raise AccessError(f"{text} holds numbers") from None


def like(value: Any, old: Any, text: str) -> Any:
    """A plain value of the type of the one that it replaces."""
    if isinstance(old, bool) and isinstance(value, int):
        return bool(value)
    if isinstance(old, int) and isinstance(value, int | np.integer):
        return int(value)
    raise AccessError(f"{text} cannot be set to that")


def differences(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int64]:
    """Indices of different elements of arrays of one shape; a NaN is equal to a NaN."""
    same = np.asarray(first == second)
    if first.dtype.kind == "f" and second.dtype.kind == "f":
        same |= np.isnan(first) & np.isnan(second)
    return np.argwhere(~same)


def memory(device: Device, text: str, dtype: np.dtype[Any], count: int | None = None) -> Access:
    """The number of a type at an address, the one index; with `count` several, one each index."""

    def extent(address: Any, *more: Any) -> tuple[int, int]:
        return int(address) + dtype.itemsize * int(more[0] if more else 0), dtype.itemsize

    def read(address: Any, *more: Any) -> Any:
        at, length = extent(address, *more)
        try:
            data = device.memory.peek(at, length)
        except Fault as fault:
            raise AccessError(fault.message) from None
        return _number(np.frombuffer(data, dtype)[0])

    def write(value: Any, address: Any, *more: Any) -> None:
        at, _ = extent(address, *more)
        try:
            device.memory.poke(at, fitting(value, dtype, text).tobytes())
        except Fault as fault:
            raise AccessError(fault.message) from None

    def inlined(*indices: Any) -> tuple[Any, int, Pages] | None:
        return _view_at(device, extent(*indices)[0], dtype)

    whole, bits = dtype.kind in "iu", 8 * dtype.itemsize
    return Access(
        text, read, write, memory=True, extent=extent, whole=whole, bits=bits, inlined=inlined
    )


def _view_at(device: Device, address: int, dtype: np.dtype[Any]) -> tuple[Any, int, Pages] | None:
    """Where an unsigned number lies in memory that only ever changes at once; None elsewhere."""
    shared = device.memory
    try:
        pages, offset = shared.locate(address, dtype.itemsize)
    except Fault:
        return None
    view = {1: pages.bytes, 2: pages.halves, 4: pages.words}.get(dtype.itemsize)
    if pages not in (shared.local, shared.external) or offset % dtype.itemsize:
        return None
    return None if view is None or dtype.kind != "u" else (view, offset // dtype.itemsize, pages)


def array(device: Device, text: str, address: int, dtype: np.dtype[Any], shape: tuple[int, ...],
          indexed: int) -> Access:  # fmt: skip
    """An array in memory, or with `indexed` subscripts elements of it."""
    size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))

    count = size // dtype.itemsize
    sides = (count,) if indexed and not shape else shape

    def refused(indices: Indices) -> AccessError:
        has = size_of(np.broadcast_to(np.uint8(0), sides))
        return AccessError(f"{text} has no element {shown(indices)}{has}")

    def element(indices: Indices) -> int | None:
        """The place of a single element; None: they name several."""
        if len(indices) != len(sides) or not all(isinstance(x, int) for x in indices):
            return None
        place = 0
        for index, side in zip(indices, sides, strict=True):
            if not -side <= index < side:
                raise refused(indices)
            place = place * side + index % side
        return place

    def extent(*indices: Any) -> tuple[int, int]:
        place = element(indices)
        if place is not None:
            return address + place * dtype.itemsize, dtype.itemsize
        if not indices:
            return address, size
        places = of(np.arange(count).reshape(sides), indices)
        if not places.size:
            return address, 0
        first, last = int(places.min()), int(places.max())
        return address + first * dtype.itemsize, (last - first + 1) * dtype.itemsize

    def of(values: Any, indices: Indices) -> Any:
        try:
            return values[tuple(indices)]
        except (IndexError, TypeError):
            raise refused(indices) from None

    def read(*indices: Any) -> Any:
        place = element(indices)
        if place is not None:
            at = address + place * dtype.itemsize
            return _number(np.frombuffer(device.memory.peek(at, dtype.itemsize), dtype)[0])
        values = np.frombuffer(device.memory.peek(address, size), dtype).reshape(sides)
        found = of(values, indices)
        return _number(found) if not isinstance(found, np.ndarray) else found

    def write(value: Any, *indices: Any) -> None:
        values = np.frombuffer(device.memory.peek(address, size), dtype).copy().reshape(sides)
        of(values, indices)
        values[tuple(indices)] = fitting(value, dtype, text)
        device.memory.poke(address, values.tobytes())

    whole = dtype.kind in "iu" and indexed == max(1, len(shape))
    return Access(text, read, write, memory=True, extent=extent, whole=whole)


def _number(value: Any) -> Any:
    return value.item()


def shown(indices: Indices) -> str:
    return ",".join(
        f"{x.start if x.start is not None else ''}:{x.stop if x.stop is not None else ''}"
        if isinstance(x, slice)
        else str(x)
        for x in indices
    )


def size_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f", it has {' × '.join(map(str, value.shape)) or 'one value'}"
    if hasattr(value, "__len__"):
        return f", it has {len(value)}"
    return ""


def near(name: str, names: Sequence[str]) -> str:
    near = get_close_matches(name, names, 3)
    return f"; did you mean {' or '.join(near)}?" if near else ""
