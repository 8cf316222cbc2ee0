"""What made a value: the step that wrote it, what that step read, and so on back to the inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from debugger.causes.record import Access, CauseError, Record, key_of
from debugger.stops import Where
from emu.faults import Fault
from emu.origins import Origin, Place, Source

if TYPE_CHECKING:
    from debugger.session import Session

DEPTH = 6  # steps back that are shown unless asked for more
WIDTH = 12  # causes of one step that are shown as text
MOST = 20_000  # causes of one answer


@dataclass
class Cause:
    """A value, and the step that made it. `causes` are what that step took; made when asked for."""

    role: str  # what it was for the step that took it: "weight", "rs1"; of the first: the question
    name: str  # where it lay: `x[0, 5]`, `0x10000040 <pixels>`, `cp.x5`; empty: in the step itself
    value: Any = None
    how: str = ""  # the step: "mac", "transfer 3"; "input", "program", "begin": nothing before it
    core: str = ""
    cycle: int | None = None
    where: Where | None = None  # the instruction
    by: str = ""  # the core that asked for the step
    memory: tuple[int, int] | None = None  # address, bytes
    setting: bool = False  # it says how the step works; the others are what it worked on
    _more: Any = field(default=None, repr=False)
    _known: list[Cause] | None = field(default=None, repr=False)

    @property
    def causes(self) -> list[Cause]:
        """What the step took."""
        if self._known is None:
            self._known = [] if self._more is None else list(self._more())
            self._more = None
        return self._known

    @property
    def ends(self) -> bool:
        """Whether nothing made it in the run: an input, the program's image, what was set."""
        return self.how in ENDS


ENDS = ("input", "program", "begin", "window")


def why(session: Session, text: str) -> list[Cause]:
    """What made the value of an expression: of memory, a tensor's elements, a register.

    Raises `CauseError`, `ExpressionError`.
    """
    expression = session.expression(text)
    if expression.target is None:
        raise CauseError(f"{text} is no place in memory and no register")
    access, indices = expression.target
    record = _record(session)
    finder = _Finder(record)
    if access.extent is not None:
        address, size = access.extent(*indices())
        if not size:
            raise CauseError(f"{text} has no bytes")
        one = np.ndim(expression.value()) == 0
        value = expression.value() if one else None
        return list(finder.memory(text, address, size, record.count, value))
    place = _register(session, text, access.cores)
    if place is None:
        raise CauseError(f"{text}: where its value came from is told of memory and registers alone")
    core, register = place
    found = finder.register(text, core, register, record.count, expression.value())
    return [found]


def _record(session: Session) -> Record:
    known = session.recorded
    if not isinstance(known, Record) or known.key != key_of(session):
        session.recorded = known = Record(session, session.runner.asked)
    return known


def _register(session: Session, text: str, cores: frozenset[str]) -> tuple[str, Place] | None:
    """The core and register that the text of a path ends with."""
    name = text.strip().split(".")[-1].lstrip("$")
    for core in cores:
        for file in session.device.cores[core].table.files:
            for number, names in enumerate(file.names):
                if name in names:
                    return core, (file.name, number)
    return None


class _Finder:
    def __init__(self, record: Record) -> None:
        self.record = record
        self.session = record.session

    def memory(
        self, role: str, address: int, size: int, before: int, value: Any
    ) -> Iterator[Cause]:
        """The causes of bytes as they were before an announcement, a run of bytes each."""
        for begin, length, write in self.record.pieces(address, size, before):
            whole = value if length == size else None
            name = self._name(begin)
            if write is None:
                yield self._begun(role, name, begin, length, whole)
                continue
            origins = self.record.origins(write, begin, length)
            if not origins:
                yield self._untold(role, name, begin, length, write, whole)
            for origin in origins:
                one = whole if origin.value is None or len(origins) == 1 else origin.value
                yield self._made(role, name, (begin, length), write.core, write.time, origin, one)

    def register(self, role: str, core: str, place: Place, before: int, value: Any) -> Cause:
        """The cause of a register's value."""
        origins = self.record.device.cores[core].origins
        assert origins is not None
        found = origins.made(place, before)
        file = next(x for x in self.record.device.cores[core].table.files if x.name == place[0])
        name = f"{core}.{file.names[place[1]][0]}"
        if found is None:
            return Cause(role, name, value, "begin", core)
        return self._made(role, name, None, core, found.time, found, value)

    def _made(
        self, role: str, name: str, memory: tuple[int, int] | None, core: str, time: int,
        origin: Origin, value: Any,
    ) -> Cause:  # fmt: skip
        where = None if origin.address is None else self._where(origin.by or core, origin.address)

        def more() -> Iterator[Cause]:
            for source in origin.sources():
                yield from self._of(source, core, value)

        shown = origin.value if value is None else value
        how, by = origin.what, origin.by
        return Cause(role, name, shown, how, core, time, where, by, memory, _more=more)

    def _of(self, source: Source, core: str, copied: Any) -> Iterator[Cause]:
        """The causes of what went into a step of a core."""
        if source.setting:
            yield self._setting(source, core)
        elif source.memory is not None:
            address, size = source.memory
            before = self.record.read_at(core, address, source.number)
            value = copied if source.value is None and source.what == COPIED else source.value
            yield from self.memory(source.what, address, size, before, value)
        elif source.place is not None:
            yield self.register(source.what, core, source.place, source.number, source.value)
        elif source.origin is not None:
            made = source.origin
            yield self._made(source.what, "", None, core, made.time, made, source.value)
        else:
            yield Cause(source.what, "", source.value, "begin", core)

    def _setting(self, source: Source, core: str) -> Cause:
        """What says how a step works, and who set it; of bytes the source's line, too."""
        made = source.origin
        if made is None:
            return Cause(source.what, "", source.value, "begin", core, setting=True)
        cause = self._made(source.what, "", None, core, made.time, made, source.value)
        if source.memory is not None:
            bytes_of = source._replace(origin=None, setting=False)
            cause._known = list(self._of(bytes_of, core, source.value))
            end = cause._known[0]
            while not end.ends and len(end.causes) == 1:
                end = end.causes[0]
            cause.name = end.name
            if end.where is not None and end.where.file:
                cause.name += f" {end.where.file}:{end.where.line}"
        return replace(cause, setting=True)

    def _untold(
        self, role: str, name: str, begin: int, length: int, write: Access, value: Any
    ) -> Cause:
        """A write of a core that does not say what it was made of."""
        where = None if write.instruction is None else self._where(write.core, write.instruction)
        return Cause(role, name, value, "write", write.core, write.time, where, "", (begin, length))

    def _begun(self, role: str, name: str, begin: int, length: int, value: Any) -> Cause:
        """Bytes that nobody wrote since the record began, or that came through a window."""
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
        program = self.session.program
        how = "begin"
        if any(x.address <= begin < x.address + x.size for x in program.inputs):
            how = "input"
        elif any(x.address <= begin < x.address + x.size for x in program.outputs):
            how = "begin"
        elif self._of_program(begin) is not None:
            how = "program"
        line = program.line_at(self._of_program(begin) or begin) if how == "program" else None
        where = Where("", begin, line.file, line.line) if line is not None else None
        return Cause(role, name, value, how, "", None, where, "", (begin, length))

    def _where(self, core: str, address: int) -> Where:
        return self.session.where(self.session.device.cores[core], address)

    def _of_program(self, address: int) -> int | None:
        """The address, where its core sees it, of a byte of the program as it was loaded."""
        for part in self.session.program.sections:
            if part.load_address <= address < part.load_address + part.size:
                return part.address + address - part.load_address
        return None

    def _name(self, address: int) -> str:
        program = self.session.program
        for tensor in (*program.tensors, *program.arrays):
            if tensor.address <= address < tensor.address + tensor.size:
                item = np.dtype(tensor.dtype).itemsize
                place = np.unravel_index((address - tensor.address) // item, tensor.shape or (1,))
                return f"{tensor.name}[{', '.join(str(int(x)) for x in place)}]"
        found = program.symbol_at(address)
        if found is None:
            found = program.symbol_at(self._of_program(address) or address)
        symbol = f" <{found[0].name}{f'+{found[1]}' if found[1] else ''}>" if found else ""
        return f"{address:#010x}{symbol}"


COPIED = "copied from"


# Records and text


def tree(causes: list[Cause], depth: int = DEPTH) -> list[dict[str, Any]]:
    """The causes as plain data, so many steps back, at most `MOST` of them."""
    left = MOST

    def plain_of(cause: Cause, deep: int) -> dict[str, Any]:
        nonlocal left
        left -= 1
        found: dict[str, Any] = {"role": cause.role, "name": cause.name, "value": cause.value}
        found |= {"how": cause.how, "core": cause.core, "cycle": cause.cycle, "by": cause.by}
        found |= {"where": cause.where, "memory": cause.memory, "setting": cause.setting}
        if deep > 0 and left > 0 and not cause.ends:
            found["causes"] = [plain_of(item, deep - 1) for item in cause.causes]
        elif not cause.ends:
            found["deeper"] = True
        return found

    return [plain_of(cause, depth) for cause in causes]


def lines(causes: list[Cause], depth: int = DEPTH) -> Iterator[str]:
    """The causes as text, one below the other, what a step took indented."""
    for cause in causes:
        yield from _lines(cause, depth, "")


def _lines(cause: Cause, depth: int, indent: str) -> Iterator[str]:
    yield indent + _line(cause)
    if cause.ends:
        return
    if depth <= 0:
        yield f"{indent}  ..."
        return
    below = [item for item in cause.causes if not item.setting]
    for item in cause.causes:
        if item.setting:
            yield from _lines(item, depth - 1, indent + "  ")
    for item in below[:WIDTH]:
        yield from _lines(item, depth - 1, indent + "  ")
    if len(below) > WIDTH:
        yield f"{indent}  and {len(below) - WIDTH} more"


def _line(cause: Cause) -> str:
    same = cause.role.replace(" ", "") == cause.name.replace(" ", "")
    text = cause.role if same or not cause.name else f"{cause.role} {cause.name}"
    if cause.setting:
        text = f"with {cause.role}"
    if cause.value is not None:
        text += f" = {cause.value}"
    if cause.setting and cause.name:
        text += f" of {cause.name}"
    if cause.ends:
        place = (
            f" {cause.where.file}:{cause.where.line}" if cause.where and cause.where.file else ""
        )
        return text + _ENDED[cause.how] + place
    text += f": {cause.core} {cause.how}"
    if cause.by:
        text += f" of {cause.by}"
    if cause.cycle is not None:
        text += f" at cycle {cause.cycle:,}"
    if cause.where is not None and cause.where.address is not None:
        text += f", {cause.where.address:#010x}"
        if cause.where.file:
            text += f" {cause.where.file}:{cause.where.line}"
    return text


_ENDED = {
    "input": ": an input",
    "program": ": of the program",
    "begin": ": there from the begin",
    "window": ": through a window, whose core does not say what of",
}
