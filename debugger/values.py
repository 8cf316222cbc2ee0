"""Reads and writes values of the device for expressions: numbers and arrays in memory.

It also converts between bytes and numbers of a type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu import bfloat16
from macaw.emu.bfloat16 import BFLOAT16
from macaw.emu.faults import Fault

if TYPE_CHECKING:
    from macaw.debugger.places import Place
    from macaw.emu.device import Device
    from macaw.emu.pages import Pages

# Types as which bytes can be read: `vc.vr3.u8[2]`.
VIEWS = {
    **{f"u{bits}": np.dtype(f"<u{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"i{bits}": np.dtype(f"<i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"<f{bits // 8}") for bits in (16, 32, 64)},
    "bf16": BFLOAT16,
}
# Types that `{TYPE}E` takes besides those of `VIEWS`, as a C compiler for RISC-V has them.
C_TYPES = {
    "char": "i8", "short": "i16", "int": "i32", "long": "i32", "unsigned": "u32",
    "float": "f32", "double": "f64",
}  # fmt: skip
WORD = VIEWS["u32"]
MOST_SPAN = 1 << 20  # the greatest number of numbers in `mem[A].u8[0:N]`
Indices = Sequence[Any]  # values of the subscripts of a path, in their order
# (field of state, first byte, number of bytes); for a list: items in place of bytes
FieldRange = tuple[str, int, int]


class AccessError(ValueError):
    """Raised if a path denotes nothing, or if a value does not fit; the message is for the user."""


@dataclass(frozen=True)
class Access:
    """A value of the device that a path denotes.

    `read(*indices)` returns the present value. `write(value, *indices)` sets the value; `write` is
    None for a value that cannot be set. `cores` are the cores whose acts may change the value; if
    `memory` is true, it is in memory, where any core may change it, and `extent(*indices)` returns
    (address, number of bytes).

    If `whole` is true, the value is always a whole number of at most `bits` bits. `live` is Python
    text for the value that translated code of its core may contain, such as `x[10]`. `dtype` is the
    type of the elements in memory or in a field, if known. `registers` has (place, file, number) of
    each register, and `queues` (place, name) of each queue, from which the value is read.
    """

    text: str
    read: Callable[..., Any]
    write: Callable[..., None] | None = None
    cores: frozenset[str] = frozenset()
    memory: bool = False
    extent: Callable[..., tuple[int, int]] | None = None
    whole: bool = False
    bits: int = 64
    live: str = ""
    # For a value in the state of one core: a function that returns where it is, for the indices.
    field_range: Callable[..., FieldRange] | None = None
    # For a value in memory: a function that returns a view, the index in it, and the memory, for
    # the indices; or None if translated code may not read the value.
    memory_view: Callable[..., tuple[Any, int, Pages] | None] | None = None
    dtype: np.dtype[Any] | None = None
    # For a value of the user, whose type changes with it: `dtype` now, and what sets it.
    present_type: Callable[[], np.dtype[Any] | None] | None = None
    set_type: Callable[[np.dtype[Any] | None], None] | None = None
    registers: frozenset[tuple[Place, str, int]] = frozenset()
    queues: frozenset[tuple[Place, str]] = frozenset()


def view_as(value: Any, dtype: np.dtype[Any], text: str) -> Any:
    """Return the bytes of a value, reinterpreted as an element or an array of the type `dtype`.

    Elements of bfloat16 are not numbers for NumPy: `numbers_of` converts them to float32. Raises
    `AccessError`, whose message calls the value `text`, if the value has no bytes, or if they are
    not a whole number of elements.
    """
    if isinstance(value, int):
        bits = max(32 if -(1 << 31) <= value < 1 << 32 else 64, 8 * dtype.itemsize)
        elements = np.frombuffer((value & (1 << bits) - 1).to_bytes(bits // 8, "little"), dtype)
        return elements[0] if len(elements) == 1 else elements
    if isinstance(value, np.integer | np.floating):
        elements = view_as(np.array([value]), dtype, text)
        return elements[0] if len(elements) == 1 else elements
    if isinstance(value, bytes | bytearray):
        value = np.frombuffer(value, np.uint8)
    if not isinstance(value, np.ndarray):
        raise AccessError(f"{text} has no bytes to be looked at as {bfloat16.type_name(dtype)}")
    try:
        return value.view(dtype) if value.ndim == 1 else np.ascontiguousarray(value).view(dtype)
    except ValueError:
        name = bfloat16.type_name(dtype)
        raise AccessError(f"{text} does not divide into numbers of {name}") from None


def array_of(value: Any) -> NDArray[Any]:
    """Return a value as an array. Raises `AccessError` for lists of different lengths."""
    try:
        return np.asarray(value)
    except ValueError:
        raise AccessError("a value whose lists have different lengths is no array") from None


def numbers_of(value: Any) -> Any:
    """Return elements of bfloat16 as float32 numbers; return any other value unchanged."""
    if isinstance(value, np.ndarray | np.void) and value.dtype == BFLOAT16:
        return bfloat16.numbers(np.asarray(value))[()]
    return value


def type_text(array: NDArray[Any], dtype: np.dtype[Any] | None) -> str:
    """Return the name of the type of an array's elements.

    `dtype` is their type in the device, if known; an array with bfloat16 numbers is float32.
    """
    return bfloat16.NAME if dtype == BFLOAT16 else str(array.dtype)


def fit(value: Any, dtype: np.dtype[Any], text: str) -> Any:
    """Return a value as an array of the type `dtype`. Raises `AccessError` if it does not fit."""
    array = np.asarray(value)
    if dtype.kind in "iu" and array.dtype.kind in "iub":
        limits = np.iinfo(dtype)
        low = -(1 << 8 * dtype.itemsize - 1)  # signed or unsigned, as in a source
        high = max(limits.max, (1 << 8 * dtype.itemsize) - 1)
        for item in (int(array.min()), int(array.max())) if array.size else ():
            if not low <= item <= high:
                raise AccessError(f"{item} does not fit {text}, {limits.min} to {limits.max}")
        return array.astype(np.uint64 if array.dtype == np.uint64 else np.int64).astype(dtype)
    if dtype.kind in "iu" and array.dtype.kind == "f":
        raise AccessError(f"{text} holds whole numbers")
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the result is then infinite
            return bfloat16.encode(array) if dtype == BFLOAT16 else array.astype(dtype)
    except (TypeError, ValueError):
        raise AccessError(f"{text} holds numbers") from None


def convert_like(value: Any, old: Any, text: str) -> Any:
    """Return a value converted to the type of `old`, which it will replace.

    Raises `AccessError`.
    """
    if isinstance(old, bool) and isinstance(value, int):
        return bool(value)
    if isinstance(old, int) and isinstance(value, int | np.integer):
        return int(value)
    raise AccessError(f"{text} cannot be set to a value of this kind")


def differences(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices of the elements in which two arrays of one shape differ; NaN equals NaN.

    The result has shape (differences, axes).
    """
    same = np.asarray(first == second)
    if first.dtype.kind == "f" and second.dtype.kind == "f":
        same |= np.isnan(first) & np.isnan(second)
    return np.argwhere(~same)


def unsigned_address(value: Any) -> int:
    """Return the address that a number denotes.

    The value of a register is a signed number, so -4 stands for the address 0xfffffffc.
    """
    number = int(value)
    return number + (1 << 32) if -(1 << 31) <= number < 0 else number


def memory(device: Device, text: str, dtype: np.dtype[Any]) -> Access:
    """Return the access to a number of the type `dtype` in memory.

    The indices of the access are an address and, optionally, the index of an element, counted from
    this address. `text` is the name of the access in messages.
    """

    def extent(address: Any, *more: Any) -> tuple[int, int]:
        begin = unsigned_address(address)
        return begin + dtype.itemsize * int(more[0] if more else 0), dtype.itemsize

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
            device.memory.poke(at, fit(value, dtype, text).tobytes())
        except Fault as fault:
            raise AccessError(fault.message) from None

    def memory_view(*indices: Any) -> tuple[Any, int, Pages] | None:
        return _view_at(device, extent(*indices)[0], dtype)

    whole, bits = dtype.kind in "iu", 8 * dtype.itemsize
    return Access(
        text,
        read,
        write,
        memory=True,
        extent=extent,
        whole=whole,
        bits=bits,
        dtype=dtype,
        memory_view=memory_view,
    )


def memory_span(device: Device, text: str, dtype: np.dtype[Any]) -> Access:
    """Return the access to adjacent numbers of the type `dtype` in memory.

    The access has two indices: an address, and a slice of numbers from this address on. The slice
    must have a start and an end: 0:16 selects the first sixteen numbers.
    """

    def extent(address: Any, part: slice) -> tuple[int, int]:
        if part.start is None or part.stop is None or part.stop <= part.start:
            raise AccessError("a span of memory has a start and an end after it: [0:16]")
        count = part.stop - part.start
        if count > MOST_SPAN:
            raise AccessError(f"a span of memory has {MOST_SPAN:,} numbers at most")
        return unsigned_address(address) + dtype.itemsize * part.start, dtype.itemsize * count

    def read(address: Any, part: slice) -> Any:
        try:
            return numbers_of(np.frombuffer(device.memory.peek(*extent(address, part)), dtype))
        except Fault as fault:
            raise AccessError(fault.message) from None

    def write(value: Any, address: Any, part: slice) -> None:
        sides = read(address, part).shape
        values = np.broadcast_to(fit(value, dtype, text), sides)
        device.memory.poke(extent(address, part)[0], values.tobytes())

    return Access(text, read, write, memory=True, extent=extent, dtype=dtype)


def _view_at(device: Device, address: int, dtype: np.dtype[Any]) -> tuple[Any, int, Pages] | None:
    """Return (view, index, memory) with which `view[index]` is the number at `address`.

    A fast engine puts this into the Python code to which it translates a program. The result is
    None for types other than unsigned numbers, for unaligned addresses, and outside of local and
    external memory. In any other memory a write may be delayed, so the view may be out of date.
    """
    space = device.memory
    try:
        pages, offset = space.locate(address, dtype.itemsize)
    except Fault:
        return None
    view = {1: pages.bytes, 2: pages.halves, 4: pages.words}.get(dtype.itemsize)
    if pages not in (space.local, space.external) or offset % dtype.itemsize:
        return None
    return None if view is None or dtype.kind != "u" else (view, offset // dtype.itemsize, pages)


def array(device: Device, text: str, address: int, dtype: np.dtype[Any], shape: tuple[int, ...],
          subscripts: int, columns: tuple[int, int] | None = None) -> Access:  # fmt: skip
    """Return the access to an array in memory, or to those elements that a path selects.

    `address`, `dtype` and `shape` describe the stored array. `subscripts` is the number of
    subscripts in the user's path, such as 2 in `y[1, 0]`; without subscripts the access is to the
    whole array. If `columns` is (first index, number of indices), the array that the user sees has
    only these indices of the last axis.
    """
    count = int(np.prod(shape, dtype=np.int64))
    sides = (count,) if subscripts and not shape else shape
    found = _ArrayInMemory(device, text, address, dtype, sides, columns)
    whole = dtype.kind in "iu" and subscripts == max(1, len(shape))
    return Access(
        text, found.read, found.write, memory=True, extent=found.extent, whole=whole, dtype=dtype
    )


@dataclass(frozen=True)
class _ArrayInMemory:
    """An array in a device's memory: a stored array, or some columns of it.

    `stored` is the shape of the stored array. `columns` is (first index, number of indices) on its
    last axis; None stands for all indices. Messages call the array `text`.
    """

    device: Device
    text: str
    address: int
    dtype: np.dtype[Any]
    stored: tuple[int, ...]
    columns: tuple[int, int] | None

    @property
    def sides(self) -> tuple[int, ...]:
        """The shape of the array: `stored`, with the last axis reduced to `columns`."""
        return self.stored if self.columns is None else (*self.stored[:-1], self.columns[1])

    def read(self, *indices: Any) -> Any:
        """Return one element, or an array of the elements that the indices select."""
        place = self._element(indices)
        if place is not None:
            size = self.dtype.itemsize
            data = self.device.memory.peek(self.address + place * size, size)
            return _number(np.frombuffer(data, self.dtype)[0])
        elements = self._select(self._values(), indices)
        return _number(elements) if not isinstance(elements, np.ndarray) else elements

    def write(self, value: Any, *indices: Any) -> None:
        """Write `value` to the elements that the indices select."""
        stored = self._stored_values().copy()
        values = self._part(stored)
        self._select(values, indices)
        values[tuple(indices)] = fit(value, self.dtype, self.text)
        self.device.memory.poke(self.address, stored.tobytes())

    def extent(self, *indices: Any) -> tuple[int, int]:
        """Return (address, number of bytes) from the first to the last of the selected elements."""
        size, count = self.dtype.itemsize, int(np.prod(self.stored, dtype=np.int64))
        place = self._element(indices)
        if place is not None:
            return self.address + place * size, size
        if not indices and self.columns is None:
            return self.address, count * size
        places = self._select(self._part(np.arange(count).reshape(self.stored)), indices)
        if not places.size:
            return self.address, 0
        first, last = int(places.min()), int(places.max())
        return self.address + first * size, (last - first + 1) * size

    def _values(self) -> NDArray[Any]:
        values: NDArray[Any] = numbers_of(self._part(self._stored_values()))
        return values

    def _stored_values(self) -> NDArray[Any]:
        size = self.dtype.itemsize * int(np.prod(self.stored, dtype=np.int64))
        data = self.device.memory.peek(self.address, size)
        return np.frombuffer(data, self.dtype).reshape(self.stored)

    def _part(self, stored: NDArray[Any]) -> NDArray[Any]:
        """Return those columns of the stored values that belong to the array."""
        first, count = self.columns or (0, 0)
        return stored if self.columns is None else stored[..., first : first + count]

    def _element(self, indices: Indices) -> int | None:
        """Return the index of a single element, counted through all stored elements.

        Return None if the indices select several elements.
        """
        if len(indices) != len(self.sides) or not all(isinstance(x, int) for x in indices):
            return None
        place = 0
        for index, side in zip(indices, self.sides, strict=True):
            if not -side <= index < side:
                raise self._refusal(indices)
            place = place * side + index % side
        if self.columns is not None:
            rows, column = divmod(place, self.columns[1])
            place = rows * self.stored[-1] + self.columns[0] + column
        return place

    def _select(self, values: Any, indices: Indices) -> Any:
        try:
            return values[tuple(indices)]
        except (IndexError, TypeError):
            raise self._refusal(indices) from None

    def _refusal(self, indices: Indices) -> AccessError:
        has = size_of(np.broadcast_to(np.uint8(0), self.sides))
        return AccessError(f"{self.text} has no element {indices_text(indices)}{has}")


def _number(value: Any) -> Any:
    return numbers_of(value).item()


def indices_text(indices: Indices) -> str:
    """Return indices as in an expression, without the brackets: `1,0:4`."""
    return ",".join(
        f"{x.start if x.start is not None else ''}:{x.stop if x.stop is not None else ''}"
        if isinstance(x, slice)
        else str(x)
        for x in indices
    )


def size_of(value: Any) -> str:
    """Return the shape or the length of a value, as the end of a message: `, it has 4 × 8`.

    The text is empty if the value has neither a shape nor a length.
    """
    if isinstance(value, np.ndarray):
        return f", it has {' × '.join(map(str, value.shape)) or 'one value'}"
    if hasattr(value, "__len__"):
        return f", it has {len(value)}"
    return ""


def near(name: str, names: Sequence[str]) -> str:
    """Return the end of a message: up to three of `names` similar to `name`; empty without any."""
    near = get_close_matches(name, names, 3)
    return f"; did you mean {' or '.join(near)}?" if near else ""
