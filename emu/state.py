"""Declared state: a row of a table declares each field of the state of a core or of the memory.

Snapshot, restore, diff, hash and save work on all declared fields.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.emu import plain
from macaw.emu.hashing import blake2b
from macaw.emu.pages import PAGE, Pages, differences
from macaw.isa import reading
from macaw.isa.errors import MacawError
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.typed_records import NamedTuple

Snapshot = dict[str, Any]
_SMALL = PAGE  # bytes of an array that is faster to clear than to search for numbers


class StateError(MacawError, ValueError):
    """A state that does not match its rows: a wrong value, or a file in another format."""


@dataclass(frozen=True)
class StateField:
    """A row that declares one field of a state.

    The state has the field's value as the attribute `name`. `dtype` is the type of the value:

    - `int`, `bool` without a shape: a Python number of any size;
    - `object`: any small plain value (`macaw.emu.plain`);
    - `memory`: `macaw.emu.pages.Pages` of `shape[0]` bytes;
    - else a NumPy type (`int32`, `uint8`, `float16`, `bool`): an array of `shape`, which is changed
      in place and never replaced.

    `path` is the field's name in the debugger, if it differs from `name`. `levels` says how many of
    the array's first axes are for units of the core: of an array of shape (clusters, PEs, 4), two.
    With None, the debugger compares the shape with the numbers of units.
    """

    name: str
    dtype: str
    shape: tuple[int, ...] = ()
    meaning: str = ""
    initial: Any = None  # None: zero (for an object: None)
    path: str = ""  # such as `chain.iteration`
    levels: int | None = None  # axes that count `macaw.isa.model.Core.levels`

    @cached_property
    def scalar(self) -> bool:
        """Whether the value is a single Python number."""
        return self.dtype in ("int", "bool") and self.shape == ()

    @cached_property
    def numpy_type(self) -> np.dtype[Any]:
        """The type of an array's elements."""
        return np.dtype(self.dtype)

    def head(self, size: int) -> bytes:
        """Return the bytes that a hash takes before the field's value, which has `size` bytes.

        These bytes are the field's name and `size`.
        """
        name = self.name.encode()
        return b"%d %d " % (len(name), size) + name

    @cached_property
    def start(self) -> Any:
        """The initial value of a scalar or an object. An object is shared, not copied."""
        if self.scalar:
            return (int if self.dtype == "int" else bool)(self.initial or 0)
        return self.initial


class Change(NamedTuple):
    """One value that differs between two states.

    `at` is the index of an array's element, or the byte offset in a memory.
    """

    field: str  # the field's name
    at: tuple[int, ...]
    old: Any  # the earlier value
    new: Any  # the later value


class State:
    """The values of declared fields, as attributes.

    A subclass may annotate the attributes for the type checker.
    """

    fields: tuple[StateField, ...]

    def __init__(self, fields: Iterable[StateField]) -> None:
        self.fields = ()
        self._shared: dict[str, np.ndarray[Any, Any]] = {}  # the arrays in the last snapshot
        # digests of the arrays in `_shared`
        self._digests: dict[str, tuple[np.ndarray[Any, Any], bytes]] = {}
        self._packed: dict[str, tuple[Any, bytes]] = {}  # the scalars in the last hash
        self._constants: dict[str, Any] = {}  # initial values that cannot change
        self._others: list[StateField] = []  # rows whose initial value must be copied
        self.add(fields)

    def add(self, fields: Iterable[StateField]) -> None:
        """Declare more fields and give them their initial values.

        Raises `StateError` if a name is declared twice.
        """
        added = tuple(fields)
        names = [row.name for row in (*self.fields, *added)]
        if len(set(names)) != len(names):
            raise StateError(f"a field is declared twice: {', '.join(names)}")
        self.fields = (*self.fields, *added)
        self._names = frozenset(names)
        for row in added:
            if row.dtype == "memory":
                setattr(self, row.name, Pages(row.shape[0]))
            elif row.scalar or row.dtype == "object":
                if plain.is_fixed(row.start):
                    self._constants[row.name] = row.start
                    continue
                self._reset(row)
            else:  # the operating system gives zeros that take no memory until they are written
                setattr(self, row.name, np.zeros(row.shape, row.dtype))
                if row.initial is not None and np.any(row.initial):
                    self._reset(row)
            self._others.append(row)
        vars(self).update({row.name: row.start for row in added if row.name in self._constants})

    def arrange(self, names: Iterable[str]) -> None:
        """Put the fields in the order of `names`, which must contain the name of each field.

        Hashes, differences and files have the fields in this order.
        """
        places = {name: place for place, name in enumerate(names)}
        self.fields = tuple(sorted(self.fields, key=lambda row: places[row.name]))

    if TYPE_CHECKING:  # rows declare the fields, so the type checker cannot know them

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def reset(self) -> None:
        """Set every field to its initial value."""
        vars(self).update(self._constants)
        for row in self._others:
            self._reset(row)

    def _reset(self, row: StateField) -> None:
        if row.dtype == "memory":
            getattr(self, row.name).reset()
        elif row.scalar or row.dtype == "object":
            setattr(self, row.name, plain.copy(row.start))
        else:
            array = getattr(self, row.name)
            if row.initial is not None:
                array[...] = row.initial
            # Zeros that were never written take no memory when they are read. Compare bytes,
            # because -0.0 equals 0.
            elif array.nbytes <= _SMALL or array.view(np.bool_).any():
                array.fill(0)

    def snapshot(self) -> Snapshot:
        """Return a copy of all values by field name. The copy never changes."""
        return {row.name: self._copy(row) for row in self.fields}

    def _copy(self, row: StateField) -> Any:
        value = getattr(self, row.name)
        if row.dtype == "memory":
            return value.snapshot()
        self._check(row, value)
        if row.scalar:
            return value
        if row.dtype == "object":
            return plain.copy(value)
        copy = self._shared.get(row.name)
        if copy is None or not _same(copy, value):  # snapshots share unchanged arrays
            copy = self._shared[row.name] = value.copy()
            copy.flags.writeable = False
        return copy

    def _check(self, row: StateField, value: Any) -> None:
        """Raise `StateError` unless the value has the declared type and shape of the field."""
        if row.scalar:
            right = type(value) is type(row.start)
        elif row.dtype == "object":
            return
        else:
            right = (
                isinstance(value, np.ndarray)
                and value.shape == row.shape
                and value.dtype == row.numpy_type
            )
        if not right:
            shape = f" of shape {row.shape}" if row.shape else ""
            raise StateError(f"field {row.name}: {_text(value)} is no {row.dtype}{shape}")

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Set all fields to the values of a snapshot.

        Arrays change in place, so views of them stay valid. Raises `StateError` if the snapshot has
        other fields, or a value of another type or shape.
        """
        if snapshot.keys() != self._names:
            raise StateError("the snapshot has other fields than this state")
        for row in self.fields:
            value = snapshot[row.name]
            if row.dtype == "memory":
                getattr(self, row.name).restore(value)
                continue
            self._check(row, value)
            if row.scalar:
                setattr(self, row.name, value)
            elif row.dtype == "object":
                setattr(self, row.name, plain.copy(value))
            else:
                getattr(self, row.name)[...] = value

    def diff(self, earlier: Mapping[str, Any]) -> list[Change]:
        """Return the changes since the snapshot `earlier`, in the order of the fields."""
        changes: list[Change] = []
        for row in self.fields:
            old, new = earlier[row.name], getattr(self, row.name)
            if row.dtype == "memory":
                pairs = differences(old, new.snapshot())
                changes += (Change(row.name, (at,), a, b) for at, a, b in pairs)
                continue
            self._check(row, new)
            if row.dtype == "object":
                if not plain.same(old, new):
                    changes.append(Change(row.name, (), old, plain.copy(new)))
            elif row.scalar:
                if old != new:
                    changes.append(Change(row.name, (), old, new))
            else:
                # Compare bits, so that a NaN equals itself and 0.0 differs from -0.0.
                differ = _bits(old) != _bits(new)
                if not differ.any():  # this test costs much less than the search for differences
                    continue
                for index in np.argwhere(differ).tolist():
                    at = tuple(index)
                    changes.append(Change(row.name, at, old[at].item(), new[at].item()))
        return changes

    def hash(self) -> str:
        """Return a hash of all values, in hexadecimal."""
        pieces: list[bytes] = []
        for row in self.fields:
            value = getattr(self, row.name)
            if row.scalar:
                known = self._packed.get(row.name)
                if known is None or known[0] != value or type(known[0]) is not type(value):
                    self._check(row, value)
                    data = plain.pack(value)
                    known = self._packed[row.name] = value, row.head(len(data)) + data
                pieces.append(known[1])
                continue
            if row.dtype == "memory":
                data = value.digest()
            elif row.dtype == "object":
                data = plain.pack(value)
            else:
                data = self._digest(row)
            pieces += (row.head(len(data)), data)
        return blake2b(16, b"".join(pieces)).hexdigest()

    def _digest(self, row: StateField) -> bytes:
        """Return a digest of the array in the field `row`.

        The method computes it again only if the contents have changed.
        """
        copy = self._copy(row)
        known = self._digests.get(row.name)
        if known is None or known[0] is not copy:
            known = self._digests[row.name] = copy, blake2b(16, _buffer(copy)).digest()
        return known[1]

    def arrays(self, prefix: str = "") -> dict[str, np.ndarray[Any, Any]]:
        """Return the state as arrays for an `.npz` file, by names that start with `prefix`."""
        found: dict[str, np.ndarray[Any, Any]] = {}
        for row in self.fields:
            value, name = getattr(self, row.name), prefix + row.name
            if row.dtype == "memory":
                pages = value.snapshot()
                found[f"{name}#pages"] = np.array(sorted(pages), np.int64)
                data = b"".join(pages[page] for page in sorted(pages))
                found[name] = np.frombuffer(data, np.uint8)
            elif row.scalar or row.dtype == "object":
                found[name] = np.frombuffer(plain.pack(value), np.uint8)
            else:
                found[name] = value
        return found

    def from_arrays(self, arrays: Mapping[str, np.ndarray[Any, Any]], prefix: str = "") -> Snapshot:
        """Return the snapshot that the method `arrays` converted to these arrays.

        `prefix` is the same as in that call of `arrays`. Raises `StateError`.
        """
        found: Snapshot = {}
        for row in self.fields:
            name = prefix + row.name
            try:
                value = arrays[name]
                if row.dtype == "memory":
                    found[row.name] = _pages(arrays[f"{name}#pages"], value, row.shape[0])
                elif row.scalar or row.dtype == "object":
                    found[row.name] = plain.unpack(value.tobytes())
                else:
                    found[row.name] = value
            except KeyError:
                raise StateError(f"the file has no field {name}") from None
            except plain.PlainError as error:
                raise StateError(f"field {row.name}: {error}") from None
            if row.dtype != "memory":
                self._check(row, found[row.name])
        return found

    def save(self, path: str | Path) -> None:
        """Write the state to the `.npz` file `path`, without pickled objects. Raises `OSError`."""
        write_arrays(path, self.arrays("state/"))

    def load(self, path: str | Path) -> None:
        """Set all fields from the file `path`, which `save` wrote. Raises `StateError`."""
        self.restore(self.from_arrays(read_arrays(path), "state/"))


def write_arrays(path: str | Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Write arrays by name to the `.npz` file `path`; equal arrays give equal bytes.

    Raises `OSError`.
    """
    with Path(path).open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **dict(arrays))


def read_arrays(path: str | Path) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of the `.npz` file `path`, by name. Raises `StateError`."""
    try:
        data = reading.read(path)
        if not data.startswith((b"PK", np.lib.format.MAGIC_PREFIX)):
            raise StateError(f"{path}: is no saved state: it is no .npz file")
        file = np.load(io.BytesIO(data), allow_pickle=False)
        if isinstance(file, np.ndarray):
            raise StateError(f"{path}: is no saved state: it is a single array, as in a .npy file")
        with file:
            return {name: file[name] for name in file.files}
    except StateError:
        raise
    except reading.UnreadableError as error:
        raise StateError(f"{path}: {error}") from None
    except Exception as error:
        # A damaged file can make zipfile, zlib and NumPy's own reader of headers raise any
        # exception.
        raise StateError(f"{path}: is no saved state: {error}") from None


def _pages(
    numbers: np.ndarray[Any, Any], data: np.ndarray[Any, Any], size: int
) -> dict[int, bytes]:
    """Return the snapshot of a memory of `size` bytes from the numbers and bytes of its pages.

    Raises `StateError` if numbers and bytes do not match.
    """
    pages = numbers.ravel().tolist()
    blob = data.tobytes()
    last = (size - 1) // PAGE
    if len(blob) != len(pages) * PAGE or len(set(pages)) != len(pages):
        raise StateError("the pages of a memory do not fit their numbers")
    if any(not isinstance(page, int) or not 0 <= page <= last for page in pages):
        raise StateError("a page lies outside of its memory")
    contents = {page: blob[i * PAGE : (i + 1) * PAGE] for i, page in enumerate(pages)}
    return {page: data for page, data in contents.items() if any(data)}


def _bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.view(f"u{array.dtype.itemsize}")


def _buffer(array: np.ndarray[Any, Any]) -> memoryview | bytes:
    """Return the bytes of an array, without a copy if they are contiguous."""
    if array.size and array.flags.c_contiguous:
        return array.reshape(-1).view(np.uint8).data
    return array.tobytes()


def _same(copy: np.ndarray[Any, Any], value: np.ndarray[Any, Any]) -> bool:
    """Return whether two contiguous arrays of the same type and shape have the same bits."""
    kind = np.uint64 if copy.nbytes % 8 == 0 else np.uint8
    return bool((copy.reshape(-1).view(kind) == value.reshape(-1).view(kind)).all())


def _text(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
