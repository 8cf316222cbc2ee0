"""Tables of `info` about the program: its lines, source files, labels and addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.code import source_lines, source_names
from macaw.debugger.commands.frames import chosen_frame
from macaw.debugger.commands.line import CommandError
from macaw.debugger.commands.operands import address_text, address_value, symbol_at
from macaw.debugger.commands.points import compile_pattern
from macaw.debugger.commands.text import stop_lines
from macaw.debugger.locations import LocationError, labels_of_code

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

MOST = 1000  # the greatest number of rows of a table


def line_table(context: Context, text: str | None) -> Answer:
    """Return a table of the addresses of a source line's code.

    `text` denotes the line; if it is None, the line is that of the chosen call.
    """
    session = context.session
    if text is None:
        addresses: tuple[int, ...] = (chosen_frame(context).address or 0,)
    else:
        try:
            addresses = session.locate(text).addresses
        except LocationError as error:
            raise CommandError(str(error)) from None
    rows = []
    for place in addresses:
        line = session.program.line_at(place)
        if line is None:
            raise CommandError(f"{address_text(context, place)} is at no line of a source")
        first, end = _range_of_line(context, place)
        rows.append(
            (f"{line.file}:{line.line}", address_text(context, first), address_text(context, end))
        )
    return answers.table(("line", "starts at", "ends before"), dict.fromkeys(rows))


def _range_of_line(context: Context, place: int) -> tuple[int, int]:
    """Return the range (first, end) of addresses of the source line to which `place` belongs."""
    program = context.session.program
    section = program.section_at(place)
    here = program.line_at(place)
    assert section is not None
    first, end = place, place + 1
    while first > section.address and program.line_at(first - 1) == here:
        first -= 1
    while end < section.end and program.line_at(end) == here:
        end += 1
    return first, end


def source_table(context: Context, text: str | None) -> Answer:
    """Return a table with the source file of the chosen call, its number of lines and its core."""
    here = chosen_frame(context)
    if here.file is None:
        raise CommandError(f"{here.core} is at no line of a source")
    rows = [("file", here.file), ("line", here.line), ("core", here.core)]
    try:
        rows.insert(1, ("lines", len(source_lines(here.file))))
    except CommandError as error:
        rows.insert(1, ("lines", f"({error})"))
    return answers.table(("", "value"), rows)


def sources_table(context: Context, text: str | None) -> Answer:
    """Return a table of the source files of the program."""
    return answers.table(("file",), [(name,) for name in source_names(context.session)])


def functions_table(context: Context, text: str | None) -> Answer:
    """Return a table of the labels of code; `text`, a regular expression, limits the names."""
    return _labels(context, text, code=True)


def variables_table(context: Context, text: str | None) -> Answer:
    """Return a table of labels of data, tensors and arrays whose names match `text`.

    `text` is a regular expression; None matches all names.
    """
    return _labels(context, text, code=False)


def _labels(context: Context, text: str | None, code: bool) -> Answer:
    pattern = compile_pattern(text or "")
    session = context.session
    program = session.program
    of_code = set(labels_of_code(program))
    rows = []
    for symbol in program.symbols:
        if pattern.search(symbol.name) and symbol.section and (symbol in of_code) == code:
            line = program.line_at(symbol.value) if code else None
            rows.append(
                (
                    f"{symbol.value:#010x}",
                    symbol.size or None,
                    symbol.name,
                    f"{line.file}:{line.line}" if line is not None else None,
                )
            )
    if not code:
        known = {row[2] for row in rows}
        rows += [
            (f"{item.address:#010x}", item.size, item.name, None)
            for item in (*program.tensors, *program.arrays)
            if item.name not in known and pattern.search(item.name)
        ]
    rows.sort(key=lambda row: (row[0], row[2]))
    return answers.table(("address", "bytes", "name", "line"), rows[:MOST])


def address_answer(context: Context, text: str | None) -> Answer:
    """Return the address of the symbol or tensor `text`, and the section at that address if any."""
    if text is None:
        raise CommandError("the name of a symbol is needed", "info address NAME")
    value = context.session.read(f"&{text}")
    section = context.session.program.section_at(value)
    where = f" in {section.name}" if section is not None else ""
    return answers.message(f"{text} is at {value:#010x}{where}")


def symbol_answer(context: Context, text: str | None) -> Answer:
    """Return the symbol or tensor at the address that `text` denotes."""
    if text is None:
        raise CommandError("an address is needed", "info symbol ADDRESS")
    value = address_value(context.session, text)
    if value is None:
        raise CommandError(f"{text} is no address")
    name = symbol_at(context.session, value)
    return answers.message(f"{value:#010x} is {name}" if name else f"no symbol is at {value:#010x}")


def program_answer(context: Context, text: str | None) -> Answer:
    """Return an answer that says why and where the program has stopped."""
    return answers.text(stop_lines(context.session.last_stop))
