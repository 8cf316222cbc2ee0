"""Makes the data of the code panel: instructions with their source lines and costs in cycles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from macaw.asm.editors.colours import is_assembly_file
from macaw.debugger.commands.code import Row, around, cores_by_address, source_lines
from macaw.debugger.commands.line import CommandError
from macaw.debugger.commands.operands import symbol_at
from macaw.debugger.frame import Code, CodeRow, visible
from macaw.debugger.line_costs import LineCosts
from macaw.debugger.places import compact
from macaw.debugger.session import Session
from macaw.emu.copies import original
from macaw.emu.faults import Fault

BEFORE, AFTER = 40, 80  # instructions before and after the present one
_BLANKS = re.compile(r"\s+")
_LABEL = re.compile(r"^[\w.$]+:\s*")


def code_part(session: Session, costs: LineCosts | None) -> Code:
    """Return the instructions around the next one of the focused core, with their source lines.

    `costs` are the costs of the lines from the command `annotate`; None before that command.
    """
    place = _place(session)
    is_idle, message = place is None, ""
    if place is None:
        message = f"{session.core.name} is idle: it is at no instruction"
        kind = session.core.table.name
        parts = (x for x in session.program.sections if x.core == kind and x.size)
        part = next(parts, None)
        if part is None:
            return Code(message=message)
        message += ". A part of it:"
        place = part.address
    place = original(session.program, session.core, place)
    try:
        rows = around(session, place, BEFORE, AFTER)
    except (CommandError, Fault) as error:
        return Code(message=str(error))
    section = session.program.section_at(place)
    kind = "" if section is None else section.core or ""
    code_rows = _Rows(session, costs, None if is_idle else place).all(rows)
    return Code(tuple(code_rows), kind, message, costs is not None)


def _place(session: Session) -> int | None:
    """Return the address of the focused core's next instruction.

    For an idle core, return the address of the last stop, or None if another core has stopped.
    """
    if session.core.running:
        return session.core.next_address
    last = session.last_stop.where
    return last.address if last is not None and last.core == session.core.name else None


class _Rows:
    """Makes the rows of the code panel."""

    def __init__(self, session: Session, costs: LineCosts | None, place: int | None) -> None:
        self.session, self.costs, self.place = session, costs, place
        self.points = _points(session)
        self.marks = {
            at: compact(session.device, places) for at, places in cores_by_address(session).items()
        }

    def all(self, rows: list[Row]) -> Iterator[CodeRow]:
        """Yield a row for each instruction in `rows`, and rows for their source lines.

        The row of a source line comes before its first instruction. A source line with the same
        text as this instruction gets no row.
        """
        line = None
        for row in rows:
            name = ""
            if row.line is not None and row.line != line:
                line = row.line
                name = f"{PurePath(line[0]).name}:{line[1]}"
                source = _source(*line)
                if source and not _is_same(source, row.text):
                    yield self._line(source, name, line)
                    name = ""
            yield self._instruction(row, name)

    def _line(self, source: str, name: str, line: tuple[str, int]) -> CodeRow:
        share, heat = self._cost(0 if self.costs is None else self.costs.lines[line])
        is_assembly = is_assembly_file(line[0])
        return CodeRow(source, where=name, is_assembly=is_assembly, share=share, heat=heat)

    def _instruction(self, row: Row, name: str) -> CodeRow:
        end = max(row.next, row.address + 1)
        share, heat = self._cost(0 if self.costs is None else self.costs.part(row.address, end))
        return CodeRow(
            visible(row.text),
            row.address,
            symbol_at(self.session, row.address),
            name,
            mark=self.marks.get(row.address, ""),
            point=self.points.get(row.address, ""),
            current=self.place is not None and row.address <= self.place < end,
            share=share,
            heat=heat,
        )

    def _cost(self, cycles: int) -> tuple[str, int]:
        if self.costs is None:
            return "", 0
        return self.costs.share_text(cycles), self.costs.heat(cycles)


def _points(session: Session) -> Mapping[int, str]:
    """Return "on" or "off" for each address with a breakpoint: whether the point is enabled."""
    points: dict[int, str] = {}
    for point in session.points:
        for target in session.point_targets(point):
            at = original(session.program, target.core, target.address)
            points[at] = "on" if point.enabled else "off"
    return points


def _source(file: str, number: int) -> str:
    try:
        return visible(source_lines(file)[number - 1].strip())
    except (CommandError, IndexError):
        return ""


def _is_same(source: str, instruction: str) -> bool:
    """Return whether a line of source is the same text as an instruction, apart from blanks."""
    source = _LABEL.sub("", source)
    return _BLANKS.sub(" ", source).replace(", ", ",") == instruction.replace(", ", ",")
