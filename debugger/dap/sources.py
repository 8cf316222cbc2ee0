"""The source files of a program, their lines with code, and the targets of `goto`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macaw.debugger.commands.code import source_lines
from macaw.debugger.commands.line import CommandError
from macaw.debugger.dap.arguments import record, text, whole
from macaw.debugger.dap.connection import RequestError
from macaw.debugger.dap.threads import file_path, source_record
from macaw.debugger.locations import LocationError

if TYPE_CHECKING:
    from macaw.debugger.session import Session

MOST_LINES = 100_000  # the greatest number of lines of a source that are examined


def files(session: Session) -> list[str]:
    """Return the paths of the program's sources, written as in its line table."""
    program = session.program
    return list(dict.fromkeys((*program.line_table.files, *program.source_files)))


def file_of(session: Session, arguments: Mapping[str, Any]) -> str:
    """Return the path of the source that a request names, written as in the line table.

    Raises `RequestError`.
    """
    source = record(arguments, "source")
    path = text(source, "path", "") or text(source, "name")
    if "\0" not in path:
        wanted = Path(path).resolve()
        for file in files(session):
            if file == path or file_path(file).resolve() == wanted:
                return file
    raise RequestError(f"the program has no lines of {path}")


def content(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text of the source that a request names. Raises `RequestError`."""
    if arguments.get("source") is None and whole(arguments, "sourceReference", 0):
        raise RequestError("all sources are files: there are no source references")
    try:
        return {"content": "\n".join((*source_lines(file_of(session, arguments)), ""))}
    except CommandError as error:
        raise RequestError(str(error)) from None


def lines_with_code(session: Session, file: str) -> set[int]:
    """Return the numbers of those lines of the source `file` that have code."""
    return {row.line for row in session.program.line_table if row.file == file}


def locations(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return those lines of a range at which a breakpoint is possible. Raises `RequestError`."""
    first = whole(arguments, "line", least=0)
    last = whole(arguments, "endLine", first)
    lines = lines_with_code(session, file_of(session, arguments))
    rows = [{"line": line} for line in sorted(lines) if first <= line <= last]
    return {"breakpoints": rows[:MOST_LINES]}


def goto_targets(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the instructions at which the code of a line begins, as targets of `goto`.

    The number of a target is its address.
    """
    file, line = file_of(session, arguments), whole(arguments, "line")
    try:
        addresses = session.locate(f"{file}:{line}").addresses
    except LocationError as error:
        raise RequestError(str(error)) from None
    targets = []
    for place in addresses:
        row = session.program.line_at(place)
        targets.append({
            "id": place, "label": f"{place:#010x}", "line": line if row is None else row.line,
            "instructionPointerReference": f"{place:#010x}",
        })  # fmt: skip
    return {"targets": targets}


def all_sources(session: Session) -> dict[str, Any]:
    """Return all sources of the program."""
    return {"sources": [source_record(file) for file in files(session)]}
