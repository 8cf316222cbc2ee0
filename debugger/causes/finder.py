"""Finds causes: the step that made a value, then the steps that made the values it read.

In this way a search can go back to the inputs. Cores announce what they do, such as a write. A
position in the recorded run is the number of an announcement, counted from the start of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from macaw.debugger.causes.edits import Edit
from macaw.debugger.causes.place_names import (
    label_place,
    memory_name,
    of_program,
    shown_value,
    state_name,
)
from macaw.debugger.causes.record import Access, RunRecord
from macaw.debugger.instruction_texts import InstructionTexts
from macaw.debugger.stops import Where
from macaw.debugger.where import where_of
from macaw.emu.copies import original
from macaw.emu.faults import Fault
from macaw.emu.origins import Extent, Origin, Place, Source, UnrecordedError

Ask = Callable[[], "list[Cause]"]  # asks a question again, with a wider record


@dataclass
class Cause:
    """A value and the step that made it; `causes` are the values that the step read.

    `role` is its role for the step that read it ("weight", "rs1"), `name` its place (`x[0, 5]`),
    `how` the step ("mac", "transfer 3"). A `setting`, such as a shift, says how a step computes.
    """

    role: str  # for the value that the user asked about: the question
    name: str  # empty: no place
    value: Any = None
    how: str = ""  # or an item of ENDS, which has no causes
    core: str = ""
    cycle: int | None = None
    where: Where | None = None  # where the instruction is
    instruction: str = ""  # the instruction's text with operands
    is_mnemonic: bool = False  # whether `how` is the mnemonic of the instruction
    by: str = ""  # the core that started the step, or the command that set the value
    memory: tuple[int, int] | None = None  # address and number of bytes
    version: int = -1  # announcement number of the write of these bytes; -1: there from the start
    place: tuple[str, Place] | None = None  # or the part of a core's state that had the value
    before: int = -1  # for state that no step made: number of the announcement at the read
    setting: bool = False
    _more: Any = field(default=None, repr=False)
    _causes: list[Cause] | None = field(default=None, repr=False)
    # To find the cause again in a wider record: a function that asks the question, or the cause of
    # the step that read this value, each with the index of this cause in the result.
    _question: tuple[Ask, int] | None = field(default=None, repr=False, compare=False)
    _parent: tuple[Cause, int] | None = field(default=None, repr=False, compare=False)

    @property
    def causes(self) -> list[Cause]:
        """The values that the step read.

        The first use finds them. If the record does not contain them, the search makes a record of
        a longer part of the run. Raises `CauseError` if that fails.
        """
        if self._causes is None:
            try:
                self._causes = [] if self._more is None else list(self._more())
            except UnrecordedError:
                self._causes = self._again().causes
            self._more = None
        for number, cause in enumerate(self._causes):
            cause._parent = cause._parent or (self, number)
        return self._causes

    def _again(self) -> Cause:
        """Return the same cause, found in a record of a longer part of the run."""
        if self._question is not None:
            ask, number = self._question
            return ask()[number]
        if self._parent is None:  # it is part of an answer that is not complete
            raise UnrecordedError
        parent, number = self._parent
        return parent._again().causes[number]

    @property
    def ends(self) -> bool:
        """Whether the search ends here, because no recorded step made the value.

        If so, `how` says where the value comes from: an input, the program, the initial state,
        memory that nothing has written, the instruction itself, a window without recorded origins,
        or an edit.
        """
        return self.how in ENDS


_REACH = 1 << 15  # bytes of state in which neighbours of an unwritten piece are searched
ENDS = ("input", "program", "begin", "window", "empty", "instruction", "set")


class CauseFinder:
    """The search for causes in the record of a run, one step at a time."""

    def __init__(self, record: RunRecord) -> None:
        self.record = record
        self.debuggee = record.debuggee
        self.texts = InstructionTexts(record.debuggee.program)

    def memory(
        self,
        role: str,
        address: int,
        size: int,
        before: int,
        value: Any,
        time: int | None = None,
    ) -> Iterator[Cause]:
        """Yield the causes of `value`, the value of the `size` bytes at `address`.

        `role` is the role of the bytes for the step that read them. Writes from announcement number
        `before` on are ignored. There is at least one cause for each group of adjacent bytes with
        the same last write. The name of bytes that no step wrote may depend on the layer of a
        network: it is the name in the layer of cycle `time` or, without `time`, in the present one.
        """
        for begin, length, write in self.record.pieces(address, size, before):
            whole = value if length == size else None
            if write is None:
                yield self._initial(role, begin, length, whole, self._layer(time))
                continue
            name = self._name_of_write(write, begin)
            yield from self._of_write(role, name, write, begin, length, whole)

    def neighbours(self, address: int, size: int) -> Iterator[Cause]:
        """Yield what may explain why no step wrote the `size` bytes at `address`.

        First come the steps that could have written these bytes but had no effect. Then come the
        causes of the nearest bytes around them that were written.
        """
        for core in self.record.device.order:
            for origin in core.origins.without_effect(address, size) if core.origins else ():
                name = self._memory_name(address)
                yield self._cause("near it", name, None, core.name, origin.time, origin, None)
        for write in self.record.neighbours(address, size):
            name = self._name_of_write(write, write.address)
            yield from self._of_write("near it", name, write, write.address, write.size, None)

    def state_neighbours(self, core: str, place: Place, before: int) -> Iterator[Cause]:
        """Yield the causes of the nearest values below and above `place` that a step made.

        `place` is a piece of an array in the state of `core`, and no step made its own value.
        Programs fill this array by several writes (`Origins.array_size`). Only steps before the
        announcement with the number `before` count. There is at most one cause on each side.
        """
        origins = self.record.device.cores[core].origins
        assert origins is not None
        end = place.first + place.size
        least = max(0, place.first - _REACH)
        most = min(origins.array_size(place.field), end + _REACH)
        for forward in (False, True):
            low, high = place.first, end
            while high < most if forward else least < low < most:
                wide = 2 * (high - low)
                if forward:
                    low, high = high, min(most, high + wide)
                else:
                    low, high = max(least, low - wide), low
                part = Place(place.field, low, high - low)
                origin = next(origins.makers(part, before), None)
                if origin is not None:
                    first, size = origin.part or (0, part.size)
                    name = self._state_name(core, Place(place.field, low + first, size))
                    yield self._cause("near it", name, None, core, origin.time, origin, None)
                    break

    def _of_write(
        self, role: str, name: str, write: Access, begin: int, length: int, value: Any
    ) -> Iterator[Cause]:
        """Yield the causes of the `length` bytes at `begin` that the access `write` has written.

        `role`, `name` and `value` are the role, the name and the value of these bytes.
        """
        for cause in self._makers_of_write(role, name, write, begin, length, value):
            cause.version = write.number
            yield cause

    def _makers_of_write(
        self, role: str, name: str, write: Access, begin: int, length: int, value: Any
    ) -> Iterator[Cause]:
        """Yield causes of bytes that `write` has written; `_of_write` then sets their `version`."""
        origins = self.record.origins(write, begin, length)
        if write.by_hand:
            memory, first = (begin, length), begin - write.address
            if value is None:
                value = self.record.by_hand[write.number][first : first + length].hex()
            by = write.core
            yield Cause(role, name, value, "set", "", write.time, by=by, memory=memory)
            return
        if not origins:
            where = None
            if write.instruction is not None:
                where = self._where(write.core, write.instruction, write.time)
            memory = begin, length
            yield Cause(role, name, value, "write", write.core, write.time, where, memory=memory)
        for origin in origins:
            first, size = origin.part or (0, length)
            one = value if origin.value is None or len(origins) == 1 else origin.value
            own = name if not first else self._name_of_write(write, begin + first)
            memory = begin + first, size
            yield self._cause(role, own, memory, write.core, write.time, origin, one)

    def state(self, role: str, core: str, place: Place, before: int, value: Any) -> Iterator[Cause]:
        """Yield the causes of `value`, the value of `place`, which is a part of a core's state.

        `role` is its role for the step that read it. Steps from number `before` on do not count.
        """
        origins = self.record.device.cores[core].origins
        assert origins is not None
        edits = list(self.record.edits.within(core, place, before))
        makers = [
            x for x in origins.makers(place, before) if not any(_later(y, x, place) for y in edits)
        ]
        for number, cycle, part, command in edits:
            if not any(x.number >= number and _meets(part, x, place) for x in makers):
                name = self._state_name(core, part if part.size else place)
                yield Cause(role, name, value, "set", core, cycle, by=command)
        if not makers and not edits:
            self.record.require_whole()
            how = "empty" if place.field in origins.clears else "begin"
            name = self._state_name(core, place)
            yield Cause(role, name, value, how, core, place=(core, place), before=before)
        for origin in makers:
            first, size = origin.part or (0, place.size)
            part = Place(place.field, place.first + first, size, origin.dtype or place.dtype)
            is_same = origin.dtype is None and len(makers) == 1
            one = value if origin.value is None or is_same else origin.value
            name = self._state_name(core, part)
            cause = self._cause(role, name, None, core, origin.time, origin, one)
            cause.place = core, part
            yield cause

    def _of_window_input(self, source: Source, core: str) -> Iterator[Cause]:
        """Yield the causes of bytes that a step of `core` took from a window of this core.

        Other cores pass bytes to the core through the window, which does not store them. `source`
        is the step's record of the bytes. The results are the causes of the write to the window.
        If no write is recorded, the result is a cause at which the search ends.
        """
        assert source.window_part is not None
        number, first, size = source.window_part
        write = self.record.window_access(number)
        if write is None:
            self.record.require_whole()
            yield Cause(source.what, "", source.value, "begin", core)
            return
        begin = write.address + first
        window = self.record.device.memory.window(begin, size)
        name = "" if window is None else window.name
        yield from self._of_write(source.what, name, write, begin, size, source.value)

    def _of_window_output(
        self, role: str, read: Access, address: int, size: int, value: Any
    ) -> Iterator[Cause]:
        """Yield the causes of the `size` bytes at `address` that `read` took from a window.

        The causes are the steps that made the bytes, as the window's core has recorded them. If it
        recorded none, the only cause is the window itself, and the search ends there.
        """
        window = self.record.device.memory.window(address, size)
        assert window is not None
        name, core = window.name, window.core.name
        origins = self.record.window_origins(read, address, size)
        if not origins:
            memory = address, size
            yield Cause(role, name, value, "window", core, memory=memory, version=read.number)
        for origin in origins:
            one = value if origin.value is None or len(origins) == 1 else origin.value
            first, length = origin.part or (0, size)
            memory = address + first, length
            cause = self._cause(role, name, memory, core, origin.time, origin, one)
            cause.version = read.number
            yield cause

    def _cause(
        self, role: str, name: str, memory: tuple[int, int] | None, core: str, time: int,
        origin: Origin, value: Any,
    ) -> Cause:  # fmt: skip
        where = (
            None if origin.address is None else self._where(origin.by or core, origin.address, time)
        )

        def more() -> Iterator[Cause]:
            for source in origin.sources():
                yield from self._of_source(source, core, value, time)

        result = origin.value if value is None else value
        how, by = origin.what, origin.by
        cycle = None if time < 0 else time
        cause = Cause(role, name, result, how, core, cycle, where, by=by, memory=memory, _more=more)
        if origin.address is not None:
            cause.instruction = self._instruction(origin.by or core, origin.address)
            rows = self.debuggee.device.cores[core].table.instructions
            cause.is_mnemonic = any(row.mnemonic == how for row in rows)
        return cause

    def _instruction(self, core: str, address: int) -> str:
        """Return the text of the instruction that a core executed at an address."""
        of = original(self.debuggee.program, self.debuggee.device.cores[core], address)
        return self.texts.at(of)

    def _of_source(self, source: Source, core: str, copy: Any, time: int) -> Iterator[Cause]:
        """Yield the causes of `source`, a value that a step of `core` read in cycle `time`.

        `copy` is the value that the step made. If the step only copied the source and the source's
        value was not recorded, `copy` is also the value of the source.
        """
        if source.setting:
            yield self._setting(source, core, time)
        elif source.memory is not None:
            address, size = source.memory
            read = None
            if not source.at_once:
                read = self.record.read(core, address, source.number)
            value = copy if source.value is None and source.what == COPIED else source.value
            if read is not None and self.record.window_access(read.number) is not None:
                yield from self._of_window_output(source.what, read, address, size, value)
                return
            before = source.number if read is None else read.number
            yield from self.memory(source.what, address, size, before, value, time)
        elif source.place is not None:
            yield from self.state(source.what, core, source.place, source.number, source.value)
        elif source.window_part is not None:
            yield from self._of_window_input(source, core)
        elif source.origin is not None:
            origin = source.origin
            yield self._cause(source.what, "", None, core, origin.time, origin, source.value)
        else:
            self.record.require_whole()
            yield Cause(source.what, "", source.value, "begin", core)

    def _setting(self, source: Source, core: str, time: int) -> Cause:
        """Return the cause of `source`, a setting that a step of `core` used in cycle `time`.

        If the value comes from memory, and a known source line other than that of the cause made
        it, the name of the cause ends with that line.
        """
        origin = source.origin
        value = shown_value(self.debuggee.program, source.value, self._layer(time))
        if origin is not None:
            cause = self._cause(source.what, "", None, core, origin.time, origin, value)
        elif source.memory is not None:
            address, size = source.memory
            name = self._memory_name(address, time)
            cause = Cause(source.what, name, value, "words", core, memory=(address, size))
        else:
            self.record.require_whole()
            return Cause(source.what, "", value, "begin", core, setting=True)
        if source.memory is not None:
            bytes_of = source._replace(origin=None, setting=False, value=None)
            if not isinstance(source.value, dict | Extent):
                bytes_of = bytes_of._replace(value=source.value)
            cause._causes = list(self._of_source(bytes_of, core, bytes_of.value, time))
            end = cause._causes[0]
            while not end.ends and len(_data(end)) == 1:
                (end,) = _data(end)
            if not _same_line(end, cause):
                cause.name = end.name
                if end.where is not None and end.where.file:
                    cause.name += f" {end.where.file}:{end.where.line}"
        return replace(cause, setting=True)

    def _initial(self, role: str, begin: int, length: int, value: Any, layer: int | None) -> Cause:
        """Return the cause of `length` bytes at `begin` that no step made, for example of an input.

        `role` is the role of the bytes for the step that read them, `value` is their value. `layer`
        is the number of the network's layer that reads them, if it is known.
        """
        name = memory_name(self.debuggee.program, begin, layer)
        window = self.record.device.memory.window(begin, length)
        if window is not None:
            name, core = window.name, window.core.name
            return Cause(role, name, value, "window", core, memory=(begin, length))
        if value is None:
            try:
                data = self.record.first.memory.peek(begin, length)
            except Fault:
                data = b""
            value = data.hex()
        program = self.debuggee.program
        how = "begin"
        if any(x.address <= begin < x.address + x.size for x in program.inputs):
            how = "input"
        elif any(x.address <= begin < x.address + x.size for x in program.outputs):
            how = "begin"
        elif of_program(program, begin) is not None:
            how = "program"
        line = program.line_at(of_program(program, begin) or begin) if how == "program" else None
        where = Where("", begin, line.file, line.line) if line is not None else None
        label = None
        if how == "program" and where is None:
            label = label_place(program, begin, layer)
        if label is not None:
            file, number, symbol = label
            where = Where("", begin, file, number, symbol)
        return Cause(role, name, value, how, where=where, memory=(begin, length))

    def _memory_name(self, address: int, time: int | None = None) -> str:
        """Return the name that the byte at `address` has in the network's layer of cycle `time`."""
        return memory_name(self.debuggee.program, address, self._layer(time))

    def _name_of_write(self, write: Access, address: int) -> str:
        """Return the name that the byte at `address` has in the network's layer that wrote it."""
        layer = None
        if write.instruction is not None and self.debuggee.layer_starts:
            layer = self._number_at(write.core, write.instruction)
        if layer is None:
            layer = self._layer(write.time)
        return memory_name(self.debuggee.program, address, layer)

    def _number_at(self, core: str, address: int) -> int | None:
        """Return the number of the layer that has the code of `core` at `address`, or None."""
        program = self.debuggee.program
        place = original(program, self.debuggee.device.cores[core], address)
        return program.layer_number_at(place)

    def _layer(self, time: int | None) -> int | None:
        """Return the number of the network's layer that runs in cycle `time`, or None.

        This is the last layer that has started up to that cycle; without `time`, up to now.
        """
        time = self.debuggee.device.cycle if time is None else time
        starts = self.debuggee.layer_starts.items()
        return max((number for number, begin in starts if begin <= time), default=None)

    def _state_name(self, core: str, place: Place) -> str:
        origins = self.record.device.cores[core].origins
        own = "" if origins is None else origins.display_name(place)
        return f"{core}.{own}" if own else state_name(self.record.device.cores[core], place)

    def _where(self, core: str, address: int, time: int) -> Where:
        """Return the source position of the instruction that `core` executed in cycle `time`.

        The instruction is at `address`. If several layers share the code, the result names the
        layer that runs in that cycle.
        """
        debuggee = self.debuggee
        where = where_of(debuggee.program, debuggee.device.cores[core], address)
        network, layer = debuggee.program.network, self._layer(time)
        if network is None or where.layer is not None or where.file in (None, self._main_file):
            return where
        if layer is None or layer >= len(network.layers):
            return where
        return replace(where, layer=network.layers[layer].name)

    @cached_property
    def _main_file(self) -> str:
        """The name of the source file that calls the network's layers."""
        program = self.debuggee.program
        assert program.network is not None
        line = program.line_at(program.symbol(program.network.end).value)
        return "" if line is None else line.file


COPIED = "copied from"


def _data(cause: Cause) -> list[Cause]:
    """Return those causes of `cause` that are not settings."""
    return [item for item in cause.causes if not item.setting]


def _same_line(one: Cause, other: Cause) -> bool:
    """Return whether the steps of two causes are on the same line of the source."""
    left, right = one.where, other.where
    return (
        left is not None
        and right is not None
        and (left.file, left.line) == (right.file, right.line)
    )


def _meets(part: Place, origin: Origin, place: Place) -> bool:
    """Return whether `part` overlaps the elements of `place` that the step `origin` made.

    `part` and `place` are in the same field of a core's state.
    """
    if not part.size or origin.part is None:
        return True
    first = place.first + origin.part[0]
    return part.first < first + origin.part[1] and first < part.first + part.size


def _later(edit: Edit, origin: Origin, place: Place) -> bool:
    """Return whether `edit` has overwritten the elements of `place` that the step `origin` made."""
    is_later = edit.number > origin.number and edit.cycle >= origin.time
    return is_later and _meets(edit.place, origin, place)
