"""Where an instruction is: `layer.s:12`, `12`, `loop`, `loop+8`, `*0x10000`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from debugger.expressions import ExpressionError, compiled

if TYPE_CHECKING:
    from debugger.session import Session
    from emu.core import Core

_LINE = re.compile(r"(?:(.+):)?(\d+)")


class LocationError(ValueError):
    """A location that the program does not have; the message is fit for a user."""


@dataclass(frozen=True)
class Location:
    """What was asked for, and the addresses that it means."""

    text: str
    addresses: tuple[int, ...]


def locate(session: Session, text: str) -> Location:
    """The addresses of a location. Raises `LocationError`."""
    text = text.strip()
    match = _LINE.fullmatch(text)
    if match is not None:
        return Location(text, _of_line(session, match[1], int(match[2])))
    try:
        value = compiled(session, text.removeprefix("*")).value()
    except ExpressionError as error:
        raise LocationError(str(error)) from None
    if not isinstance(value, int) or not 0 <= value < 1 << 32:
        raise LocationError(f"{text} is no address")
    if not text.startswith("*") and session.program.section_at(value) is None:
        raise LocationError(f"{text} is {value:#x}, where the program has nothing; *{text} insists")
    return Location(text, (value,))


def _of_line(session: Session, file: str | None, number: int) -> tuple[int, ...]:
    """The first addresses of a line, or of the next one that has code."""
    table = session.program.line_table
    files = list(table.files)
    if file is None:
        here = session.where().file
        wanted = here if here is not None else (files[0] if files else None)
    else:
        found = [name for name in files if name == file or name.endswith(f"/{file}")]
        if not found:
            near = get_close_matches(file, files, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise LocationError(f"the program has no lines of {file}{hint}")
        wanted = found[0]
    starts: dict[int, list[int]] = {}
    for section in table.sections:
        before = None
        for row in (table.at(section, address) for address in table.rows(section).addresses):
            if row is None or row.file != wanted:
                before = None
                continue
            if row.line != before:
                starts.setdefault(row.line, []).append(row.address)
            before = row.line
    line = min((line for line in starts if line >= number), default=None)
    if line is None:
        raise LocationError(f"line {number} of {wanted} has no code, nor have those behind it")
    return tuple(starts[line])


def cores_of(session: Session, address: int) -> list[Core]:
    """The cores that may execute what lies at an address: of its part, else all that fetch."""
    device = session.device
    section = session.program.section_at(address)
    if section is not None and section.core is not None:
        cores = [core for core in device.order if core.table.name == section.core]
        if section.index is not None and cores:
            own = [core for core in cores if core.number - core.table.number == section.index]
            return own or cores
        return cores
    return [core for core in device.order if core.halts]
