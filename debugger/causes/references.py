"""References: arrays with the values that named places should have, and comparisons with them.

A place is a tensor, an array that the source declares, another expression for memory or for a
core's state, a window or a transfer. The values of a window are the stream of bytes that passes
through it. The values of a transfer are the bytes that the transfer moves, in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.debugger.causes.record import CauseError
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.values import array_of, differences, numbers_of
from macaw.emu.bfloat16 import BFLOAT16, encode

if TYPE_CHECKING:
    from macaw.debugger.causes.finder import Cause
    from macaw.debugger.causes.record import RunRecord
    from macaw.debugger.session import Session

TRANSFER = re.compile(r"transfer\s*(\d+)")


@dataclass(frozen=True)
class Reference:
    """An array with the values that a place should have.

    `name` is the place, as the user named it, `source` the file of the array. Exactly one of the
    last four is set: `memory` is (address, number of bytes); `state` is (core, field, first byte,
    number of bytes); `window` is the name of a window and its core; `transfer` is a name such as
    `transfer 3`.
    """

    name: str
    source: str
    array: NDArray[Any]
    dtype: np.dtype[Any]  # the type of the elements at the place
    memory: tuple[int, int] | None = None
    state: tuple[str, str, int, int] | None = None
    window: str = ""
    transfer: str = ""

    def element(self, number: int) -> str:
        """Return the name of an element; `number` counts in C order from 0."""
        if not self.array.shape:
            return self.name
        at = np.unravel_index(number, self.array.shape)
        return f"{self.name}[{', '.join(str(int(x)) for x in at)}]"


@dataclass(frozen=True)
class Verdict:
    """The result of the comparison of a value with a reference.

    `count` elements were compared; `wrong` of them differ. `first` is the index in the reference of
    the first element that differs; if none differs, of the first element that was compared. `found`
    and `expected` are the value of this element and its value in the reference.
    """

    reference: Reference
    equal: bool
    count: int
    wrong: int
    first: int
    found: Any  # the value of element `first`; None if not all of its bytes were compared
    expected: Any

    @property
    def name(self) -> str:
        """The name of the element with the number `first`, such as `x[3, 5]`."""
        return self.reference.element(self.first)


def reference(session: Session, name: str, source: str, array: NDArray[Any]) -> Reference:
    """Return a reference: `array` has the values that the place `name` should have.

    `source` is the file of the array. Raises `CauseError` if `name` denotes no place in the
    session's program, or if the array does not fit the place.
    """
    if array.dtype.kind not in "biuf" or not array.size:
        raise CauseError(f"{source} holds no numbers")
    match = TRANSFER.fullmatch(name)
    if match is not None:
        return Reference(name, source, array, array.dtype, transfer=f"transfer {match[1]}")
    windows = {
        f"{row.name} of {core.name}": row.element(session.device.config)
        for core in session.device.order
        for row in core.table.windows
    }
    named = [x for x in windows if name in (x, x.split()[0], ".".join(reversed(x.split(" of "))))]
    if len(named) == 1:
        dtype = np.dtype(windows[named[0]] or array.dtype)
        return Reference(name, source, array, dtype, window=named[0])
    if named:
        raise CauseError(f"{name} may be {', '.join(named)}")
    try:
        expression = session.expression(name)
        value = array_of(expression.value())
    except (ExpressionError, ValueError) as error:
        raise CauseError(f"{name} is no place to compare with {source}: {error}") from None
    if expression.target is None or value.dtype.kind not in "biuf":
        raise CauseError(f"{name} is no place to compare with {source}: it names no numbers")
    if value.size != array.size or (value.ndim > 1 and value.shape != array.shape):
        if name.endswith("]"):  # an element of a tensor: the array may be for the whole tensor
            name, value = _whole(session, name, value)
        raise CauseError(f"{name} is {kind_of(value)}, {source} holds {kind_of(array)}")
    access, indices = expression.target
    if access.extent is not None:
        memory = access.extent(*indices())
        dtype = access.dtype or value.dtype
        # A single number in memory is a Python int.
        if access.dtype is None and value.size and memory[1] != value.nbytes:
            dtype = np.dtype(f"{value.dtype.kind}{memory[1] // value.size}")
        shaped = array.reshape(value.shape)
        return Reference(name, source, shaped, dtype, memory=memory)
    if access.field_range is None or len(access.cores) != 1:
        raise CauseError(f"{name} is no place to compare with {source}: it is no single place")
    (core,) = access.cores
    field, first, size = access.field_range(*indices())
    dtype = access.dtype or np.dtype(f"{value.dtype.kind}{max(1, size // value.size)}")
    return Reference(name, source, array, dtype, state=(core, field, first, size))


def _whole(session: Session, name: str, value: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    """Return name and value of the whole tensor of which an expression such as `y[1]` is a part.

    `name` is the expression, `value` its value. If the expression does not begin with a tensor,
    return both unchanged.
    """
    head = name.partition("[")[0].strip()
    try:
        whole = array_of(session.read(head))
    except (ExpressionError, ValueError):
        return name, value
    return (head, whole) if whole.dtype.kind in "biuf" else (name, value)


def kind_of(array: NDArray[Any]) -> str:
    """Return a text with the type and the shape of an array: `int32, 4 x 4`."""
    sides = " x ".join(map(str, array.shape))
    return f"{array.dtype}, {sides}" if sides else str(array.dtype)


class Comparison:
    """Compares the values of causes with references.

    Two numbers that differ by at most `within` count as equal.
    """

    def __init__(self, record: RunRecord, references: Iterable[Reference], within: float) -> None:
        self.record = record
        self.references = tuple(references)
        self.within = within

    def verdict(self, cause: Cause) -> Verdict | None:
        """Return the verdict on the value of a cause; None if no reference contains the value."""
        for item in self.references:
            place = self._offset(item, cause)
            if place is None:
                continue
            offset, size = place
            data = self._data(cause, offset, size, item)
            if data is not None:
                return data
        return None

    def _offset(self, item: Reference, cause: Cause) -> tuple[int, int] | None:
        """Return the range of a cause's bytes in the array of `item`: first byte and length.

        The result is None if the bytes are not at the place of `item`.
        """
        if cause.memory is not None:
            address, size = cause.memory
            if item.memory is not None:
                begin = address - item.memory[0]
                return (begin, size) if 0 <= begin <= item.memory[1] - size else None
            if item.transfer:
                return self._moved(item, cause)
            if item.window:
                passed = self.record.window_position(cause.version)
                if passed is not None and passed[0] == item.window:
                    access = self.record.window_access(cause.version)
                    assert access is not None
                    return passed[1] + address - access.address, size
            return None
        if item.state is None or cause.place is None:
            return None
        core, place = cause.place
        name, field, first, size = item.state
        begin = place.first - first
        fits = (core, place.field) == (name, field) and 0 <= begin <= size - place.size
        return (begin, place.size) if fits and place.size else None

    def _moved(self, item: Reference, cause: Cause) -> tuple[int, int] | None:
        """Return which of the bytes that a transfer wrote are the bytes of `cause`.

        The result is (first byte, number of bytes), counted through all bytes of the transfer. It
        is None if `item` is not a reference for the transfer that wrote the bytes.
        """
        if cause.how != item.transfer or cause.memory is None:
            return None
        address, size = cause.memory
        before = 0
        for write in self.record.writes_of(cause.core):
            origins = self.record.origins(write, write.address, write.size)
            if origins and origins[0].what == item.transfer:
                if write.number == cause.version:
                    return before + address - write.address, size
                before += write.size
        return None

    def _data(self, cause: Cause, offset: int, size: int, item: Reference) -> Verdict | None:
        wide = item.dtype.itemsize
        low, high = offset // wide, -(-(offset + size) // wide)
        if high > item.array.size:
            return None
        expected = item.array.reshape(-1)[low:high]
        data = None
        if cause.memory is not None and item.memory is not None:  # only whole elements
            offset, size = low * wide, (high - low) * wide
            data = self.record.data(item.memory[0] + offset, size, cause.version + 1)
        elif cause.memory is not None:
            data = self.record.data(*cause.memory, cause.version + 1)
        elif isinstance(cause.value, str):
            data = _from_hex(cause.value)
        if data is None and isinstance(cause.value, int | float | np.generic) and high == low + 1:
            found = np.asarray([cause.value])
        elif data is None or len(data) != size:
            return None
        elif offset % wide or size % wide:
            return _of_bytes(item, low, data, offset - low * wide)
        else:
            found = numbers_of(np.frombuffer(data, item.dtype))
        wrong = self._differ(found, expected)
        first = int(wrong[0]) if len(wrong) else 0
        return Verdict(
            item, not len(wrong), high - low, len(wrong), low + first,
            found[first].item(), expected[first].item(),
        )  # fmt: skip

    def _differ(self, found: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.int64]:
        """Return the indices of the elements in which two arrays differ by more than `within`."""
        wrong = differences(found, expected).reshape(-1)
        if not self.within or not len(wrong):
            return wrong
        with np.errstate(all="ignore"):
            distance = np.abs(found[wrong].astype(float) - expected[wrong].astype(float))
        return np.asarray(wrong[~(distance <= self.within)])


def _of_bytes(item: Reference, low: int, data: bytes, inside: int) -> Verdict | None:
    """Compare `data`, bytes of the run that do not form whole elements, with a reference.

    `data` is compared with the bytes of the reference's array (`item.array`) from byte `inside` of
    element `low` on. Return the verdict, or None if the array ends before the last byte of `data`.
    """
    with np.errstate(all="ignore"):
        part = item.array.reshape(-1)[low:]
        flat = (encode(part) if item.dtype == BFLOAT16 else part.astype(item.dtype)).tobytes()
    wanted = flat[inside : inside + len(data)]
    if len(wanted) != len(data):
        return None
    wrong = [at for at in range(len(data)) if data[at] != wanted[at]]
    first = low + (inside + wrong[0]) // item.dtype.itemsize if wrong else low
    expected = item.array.reshape(-1)[first].item()
    return Verdict(item, not wrong, 1, int(bool(wrong)), first, None, expected)


def _from_hex(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None
