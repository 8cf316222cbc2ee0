"""Finds members of a core's state by their names: `vc.x5`, `pe[1,0].3.q1.level`.

The members of a core are the registers, queues, counters and memory-mapped registers in its table,
and the fields of its declared state. All names come from there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.element_path import ElementPath, field_range, fill_subscripts
from macaw.debugger.places import Place, counts
from macaw.debugger.values import (
    VIEWS,
    Access,
    AccessError,
    FieldRange,
    Indices,
    near,
    numbers_of,
)
from macaw.emu.block_diagram import Box
from macaw.emu.breaks import Instrumented, live_values
from macaw.emu.faults import Fault
from macaw.isa.common import REGISTERS as MAPPED
from macaw.isa.memory_map import CORE_SHIFT, REGISTERS

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device
    from macaw.emu.state import State, StateField
    from macaw.isa.model import RegisterFile

BOX = "box"  # a member's name is this and the box's number: `pe[0,1].2.box503`


class Members:
    """The members of one place (a core or a unit), by name."""

    def __init__(self, device: Device, place: Place) -> None:
        self.device = device
        self.place = place
        self.core: Core = device.cores[place.core]
        self.table = self.core.table
        self.levels = counts(self.core)
        self.fields: dict[str, StateField] = {}
        for row in self.core.state.fields:
            self.fields[row.path or row.name] = row

    def names(self) -> list[str]:
        """Return all names that may follow the place in an expression, sorted."""
        words = {name.split(".")[0] for name in self.fields}
        words |= {name for file in self.table.files for names in file.names for name in names}
        words |= {queue.name for queue in self.table.queues}
        words |= {row.name for row in self.table.counters}
        words |= {row.name for row in (*MAPPED, *self.table.registers)}
        return sorted(words | self._boxes().keys())

    def find(self, steps: Sequence[str | int]) -> Access:
        """Return the access to the value that the steps of a path select. Raises `AccessError`.

        The steps are those after the name of the place. A step is a name, or a number: the path has
        this number of subscripts there. So the path `q1[2].level` has the steps "q1", 1, "level".
        """
        name = steps[0]
        if not isinstance(name, str):
            raise AccessError(f"{self.place} takes no index here; name a register or field of it")
        kinds = [
            self._register,
            self._queue,
            self._counter,
            self._field,
            self._mapped_register,
            self._box,
        ]
        if self.place.units:
            kinds[2:4] = [self._field, self._counter]
        for look in kinds:
            access = look(steps)
            if access is not None:
                return access
        if len(steps) == 1:  # the name of a queue alone stands for its level
            access = self._queue((name, "level"))
            if access is not None:
                return access
        if name in self.names():
            raise AccessError(f"{self.place}.{name} has no parts")
        raise AccessError(f"{self.place} has no '{name}'{near(name, self.names())}")

    def source(self, steps: Sequence[str | int]) -> tuple[StateField, tuple[int, ...]] | None:
        """Return which array of the core's state has the number that `steps` select, for all units.

        The result is (row of the array's field, indices). The first axes of the array are the
        levels of units; the indices are for the axes after them: array[all units, *indices] has
        the number of each unit. The result is None if the steps do not select exactly one number
        for each unit of the deepest level.
        """
        rows = {row.name: row for row in self.core.state.fields}
        result: tuple[StateField, tuple[int, ...]] | None = None
        if len(steps) == 1:
            for file in self.table.files:
                for number, names in enumerate(file.names):
                    if steps[0] in names and not file.signed:
                        row = rows[file.name]
                        result = row, () if _single(file, row, self._depth(row)) else (number,)
            result = result or (
                (self.fields[str(steps[0])], ()) if steps[0] in self.fields else None
            )
        elif len(steps) == 2 and steps[1] == "level":
            field_name = next((x.contents for x in self.table.queues if x.name == steps[0]), "")
            result = (rows[field_name], ()) if field_name else None
        if result is None or result[0].dtype == "object":
            return None
        depth = len(self._inside(result[0]))
        whole = depth == len(self.place.units) == len(result[0].shape) - len(result[1])
        return result if whole and depth else None

    # Kinds of members

    def _register(self, steps: Sequence[str | int]) -> Access | None:
        for file in self.table.files:
            number = next((n for n, names in enumerate(file.names) if steps[0] in names), None)
            if number is None:
                continue
            row = next(row for row in self.core.state.fields if row.name == file.name)
            inside = self._inside(row)
            single = _single(file, row, len(inside))
            # Each unit below the place has the register.
            several = (slice(None),) * (self._depth(row) - len(inside))
            place = inside if single else (*inside, (*several, number) if several else number)
            bits = file.width if row.dtype != "object" and file.width <= 64 else 0
            live = live_values(self.core, file.name) is not None and len(steps) == 1
            is_signed = file.signed and len(row.shape) == len(place)
            access = self._of_field(
                row, place, steps[1:], is_signed=is_signed, bits=bits, live=live
            )
            return replace(access, registers=frozenset({(self.place, file.name, number)}))
        return None

    def _queue(self, steps: Sequence[str | int]) -> Access | None:
        queue = next((row for row in self.table.queues if row.name == steps[0]), None)
        if queue is None or len(steps) < 2 or steps[1] not in ("level", "capacity", "high"):
            return None
        text = f"{self.place}.{queue.name}.{steps[1]}"
        if steps[1] == "capacity":  # of all queues inside the place together, as `level` is
            capacity = int(self.device.config[queue.capacity]) * self._queues(queue.contents)
            return Access(text, lambda: capacity, whole=True)
        if steps[1] == "high":
            if not queue.high:
                raise AccessError(f"{self.place}.{queue.name} has no high-water mark")
            return self.find((queue.high,))
        row = next(row for row in self.core.state.fields if row.name == queue.contents)
        inside = self._inside(row)

        def level() -> int:
            return count_items(_at(self._field_value(row), inside))

        queues = frozenset({(self.place, queue.name)})
        return Access(text, level, cores=frozenset((self.core.name,)), whole=True, queues=queues)

    def _field(self, steps: Sequence[str | int]) -> Access | None:
        if len(steps) > 1 and f"{steps[0]}.{steps[1]}" in self.fields:
            row = self.fields[f"{steps[0]}.{steps[1]}"]
            return self._of_field(row, self._inside(row), steps[2:])
        field = self.fields.get(str(steps[0]))
        if field is None:
            return None
        access = self._of_field(field, self._inside(field), steps[1:])
        registers = {
            (self.place, file.name, number)
            for file in self.table.files
            for number in range(len(file.names))
            if file.name == field.name
        }
        own_names = (field.name, str(steps[0]))
        queues = {(self.place, queue.name) for queue in self.table.queues
                  if queue.contents in own_names or queue.name in own_names}  # fmt: skip
        return replace(access, registers=frozenset(registers), queues=frozenset(queues))

    def _counter(self, steps: Sequence[str | int]) -> Access | None:
        name = str(steps[0])
        if name not in self.device.counters()[self.core.name] or len(steps) > 1:
            return None
        if self.place.units:
            raise AccessError(f"{name} is counted for {self.core.name} as a whole")

        def count() -> int:
            return self.device.counters()[self.core.name][name]

        return Access(f"{self.place}.{name}", count, None, frozenset((self.core.name,)), whole=True)

    def _mapped_register(self, steps: Sequence[str | int]) -> Access | None:
        rows = {row.name: row for row in (*MAPPED, *self.table.registers)}
        row = rows.get(str(steps[0]))
        if row is None or len(steps) > 1 or self.place.units:
            return None
        address = REGISTERS + (self.core.number << CORE_SHIFT) + row.address

        def read() -> int:
            self.core.sync()
            return self.device.memory.registers.read(address, 4, self.device.cycle)

        def write(value: Any) -> None:
            self.core.sync()
            text = f"{self.place}.{row.name}"
            if not -(1 << 31) <= value < 1 << 32:
                raise AccessError(f"{value} does not fit {text}, 0 to {(1 << 32) - 1}")
            number = int(value) & (1 << 32) - 1
            try:
                self.device.memory.registers.write(address, 4, number, self.device.cycle)
            except Fault as fault:
                raise AccessError(fault.message) from None

        cores = frozenset((self.core.name,))
        put = write if row.access == "rw" else None
        return Access(f"{self.place}.{row.name}", read, put, cores, whole=True)

    def _boxes(self) -> dict[str, Box]:
        """Return the numbered boxes of a unit in the block diagram of a seed, each under two keys.

        One key is the name of the box, the other its number in the diagram (`box503`). Only a unit
        of the deepest level has boxes.
        """
        boxes = self.core.boxes if len(self.place.units) == len(self.levels) else ()
        return {identifier(box.name): box for box in boxes} | {
            BOX + box.number: box for box in boxes
        }

    def _box(self, steps: Sequence[str | int]) -> Access | None:
        box = self._boxes().get(str(steps[0]))
        if box is None:
            return None
        text = f"{self.place}.{steps[0]}"

        def read(*indices: Any) -> Any:
            self.core.sync()
            contents = box.look(self.place.units)
            chain = ElementPath({identifier(name): value for name, value in contents.items()})
            for step in fill_subscripts(steps[1:], indices):
                if isinstance(step, str):
                    chain.member(step, text)
                else:
                    chain.index(step, text)
            return chain.value

        return Access(text, read, cores=frozenset((self.core.name,)))

    # Fields of state

    def _field_value(self, row: StateField) -> Any:
        self.core.sync()
        return getattr(self.core.state, row.name)

    def _queues(self, name: str) -> int:
        """Return how many queues of the place are in the state's field `name`.

        A unit of the deepest level has one; a core has one for each of its units.
        """
        row = next((row for row in self.core.state.fields if row.name == name), None)
        if row is None:
            return 1
        return math.prod(self.levels[len(self.place.units) : self._depth(row)])

    def indices(self, name: str) -> tuple[int, ...]:
        """Return the indices that select the part of this place in the field `name` of the state.

        They are indices on the first axes of the field, which are levels of units. For the place
        pe[1,0].3 (cluster 0, PE 3) and a field of shape (clusters, PEs, 8) they are (0, 3).
        """
        return self._inside(next(row for row in self.core.state.fields if row.name == name))

    def _inside(self, row: StateField) -> tuple[int, ...]:
        """Return the indices that select the part of this place in a field (see `indices`)."""
        return self.place.units[: self._depth(row)]

    def _depth(self, row: StateField) -> int:
        """Return how many of a field's axes are levels of units."""
        return depth_of(row, self.levels)

    def _of_field(
        self,
        row: StateField,
        inside: tuple[int | tuple[Any, ...], ...],
        steps: Sequence[str | int],
        is_signed: bool = False,
        bits: int = 0,
        live: bool = False,
    ) -> Access:
        text = f"{self.place}.{row.path or row.name}"
        if row.dtype == "memory":
            raise AccessError(f"{text} is a memory; look at it by mem[]")
        core = self.core
        first = tuple(at if isinstance(at, tuple) else (at,) for at in inside)

        def chain(indices: Indices) -> ElementPath:
            path = ElementPath(self._field_value(row))
            for at in first:
                path.index(at, text)
            if row.dtype not in ("object",) and isinstance(path.value, np.ndarray):
                path.value = path.value[...]
            for step in fill_subscripts(steps, indices):
                if isinstance(step, str):
                    path.member(step, text)
                else:
                    path.index(step, text)
            return path

        one = bits > 0 and len(inside) == len(row.shape) and not steps

        def read(*indices: Any) -> Any:
            value = numbers_of(chain(indices).value)
            if one and isinstance(value, np.generic):
                value = value.item()  # NumPy's truth values have no operator `-`
            return _sign_extend(value, bits) if is_signed and not steps else value

        def write(value: Any, *indices: Any) -> None:
            core.sync()
            if row.scalar and not steps:
                _set_scalar(core.state, row, value, text)
            else:
                chain(indices).set(value, text)
            core.reload()
            for other in core.device.order:
                other.areas_changed()  # the field may bound a core's area for records

        def own_range(*indices: Any) -> FieldRange:
            return field_range(core.state, row, (*first, *fill_subscripts(steps, indices)))

        whole = (row.scalar and not steps) or (one and row.dtype.startswith(("int", "uint")))
        own = frozenset((core.name,))
        view = next((VIEWS[x] for x in reversed(steps) if isinstance(x, str) and x in VIEWS), None)
        access = Access(
            text, read, write, own, whole=whole, bits=bits or 64, field_range=own_range, dtype=view
        )
        return _inlined(access, core, inside[-1], is_signed) if live else access


def identifier(name: str) -> str:
    """Return a name of several words as one identifier: lower-case letters, digits and `_`."""
    return re.sub(r"\W+", "_", name.lower())


def depth_of(row: StateField, levels: tuple[int, ...]) -> int:
    """Return how many of a field's axes are levels of units.

    `levels` are the numbers of units that the core has at each level.
    """
    if row.levels is not None:
        return row.levels
    if row.dtype == "object":
        return 1 if _by_unit(row, levels) else 0
    same = [a == b for a, b in zip(row.shape, levels, strict=False)]
    return same.index(False) if False in same else len(same)


def count_items(value: Any) -> int:
    """Return the number of items in a queue; `value` is a number, a list, or an array of flags."""
    if isinstance(value, list | tuple | bytes):
        return len(value)
    return int(value.sum()) if isinstance(value, np.ndarray) else int(value)


def _by_unit(row: StateField, levels: tuple[int, ...]) -> bool:
    """Return whether a field of Python objects is a list with one object for each unit.

    `levels` are the numbers of units that the core has at each level.
    """
    return bool(levels) and isinstance(row.initial, list) and len(row.initial) == levels[0]


def _single(file: RegisterFile, row: StateField, levels: int) -> bool:
    """Return whether the field of a register file has no axis for the register's number.

    This is so for a file with a single register, unless the field has an axis of length 1 for it.
    `levels` is the number of the field's axes that are levels of units.
    """
    return len(file.names) == 1 and row.shape[levels:][:1] != (1,)


def _at(value: Any, inside: tuple[int, ...]) -> Any:
    for index in inside:
        value = value[index]
    return value


def _inlined(access: Access, core: Core, number: int | tuple[Any, ...], is_signed: bool) -> Access:
    """Return `access` with a faster `read`, which uses the core's list of register values.

    `number` is the register's index in this list. If `is_signed` is true, the value is a signed
    number.
    """
    assert isinstance(core, Instrumented)
    assert isinstance(number, int)
    values, half = getattr(core, core.inlines), 1 << access.bits - 1
    text = f"{core.inlines}[{number}]"

    def now() -> int:
        value = int(values[number])
        return (value ^ half) - half if is_signed else value

    live = f"(({text} ^ {half}) - {half})" if is_signed else text
    return replace(access, read=now, whole=True, live=live)


def _sign_extend(value: Any, bits: int) -> int:
    half = 1 << bits - 1
    return ((int(value) & (1 << bits) - 1) ^ half) - half


def _set_scalar(state: State, row: StateField, value: Any, text: str) -> None:
    if not isinstance(value, int | np.integer):
        raise AccessError(f"{text} holds a whole number")
    setattr(state, row.name, bool(value) if row.dtype == "bool" else int(value))
