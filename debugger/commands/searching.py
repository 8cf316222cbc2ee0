"""Commands that search memory (`find`), the source (`search`) and the commands (`apropos`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.code import source_lines
from macaw.debugger.commands.formats import UNITS
from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.commands.operands import address_of, address_text, number_of
from macaw.debugger.commands.points import compile_pattern, split_values
from macaw.debugger.commands.source_listing import present_line
from macaw.debugger.commands.table import COMMANDS, command
from macaw.debugger.commands.text import counted
from macaw.debugger.user_values import set_variable
from macaw.emu.faults import Fault

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

MOST_BYTES = 1 << 28  # the greatest number of bytes of memory that one command searches
PIECE = 1 << 20  # bytes that are read at a time
MOST_PLACES = 100
_MOST_DIGITS = 6  # of the number of results


@command(
    "find TEXT",
    "look",
    "search memory for values",
    suffix="SN",
    details="TEXT has the form FIRST, LAST, VALUE... or FIRST, +BYTES, VALUE...; a VALUE is a\n"
    "number or a text in quotation marks. S: size of a number, "
    + ", ".join(f"{letter} {size}" for letter, size in UNITS.items())
    + " bytes (default w); N: find at most N places.\n"
    "$_ becomes the last place, $numfound the number of places.",
)
def _find(context: Context, line: Line) -> Answer:
    size, most = _suffix(line.suffix)
    parts = split_values(f",{line.get('TEXT') or ''}")
    if len(parts) < 3:
        raise CommandError("a range and a value are needed", "find FIRST, +BYTES, VALUE")
    begin = address_of(context, line, parts[0], "TEXT")
    if parts[1].startswith("+"):
        end = begin + number_of(context, line, parts[1].removeprefix("+"), "TEXT")
    else:
        end = address_of(context, line, parts[1], "TEXT") + 1
    if not begin < end <= begin + MOST_BYTES:
        raise CommandError(f"{parts[0]}, {parts[1]} is no range of 1 to {MOST_BYTES:,} bytes")
    pattern = b"".join(_bytes(context, line, text, size) for text in parts[2:])
    places = _search(context, begin, end, pattern, most)
    values = context.session.user_values
    set_variable(values, "numfound", len(places))
    if not places:
        return answers.message("nothing was found")
    set_variable(values, "_", places[-1])
    return answers.text([address_text(context, place) for place in places])


def _suffix(text: str) -> tuple[int, int]:
    """Return (bytes of a number, greatest number of results) from the suffix of `find`.

    Raises `CommandError`.
    """
    digits = "".join(filter(str.isdigit, text))
    letters = "".join(one for one in text if not one.isdigit())
    if letters not in ("", *UNITS) or digits == "0" or len(digits) > _MOST_DIGITS:
        raise CommandError(f"'{text}' is no format of find", "find/b, find/w4")
    return UNITS.get(letters, 4), int(digits or MOST_PLACES)


def _bytes(context: Context, line: Line, text: str, size: int) -> bytes:
    """Return the bytes to search for: a string, or a number of `size` bytes.

    Raises `CommandError`.
    """
    if text[:1] == '"' and text[-1:] == '"' and len(text) > 2:
        return text[1:-1].encode()
    value = number_of(context, line, text, "TEXT")
    if not -(1 << 8 * size - 1) <= value < 1 << 8 * size:
        raise CommandError(
            f"{text} does not fit {counted(size, 'byte')}", "find/g searches 8 bytes"
        )
    return (value & (1 << 8 * size) - 1).to_bytes(size, "little")


def _search(context: Context, begin: int, end: int, pattern: bytes, most: int) -> list[int]:
    """Return the addresses at which memory contains the bytes `pattern`: at most `most`.

    The search goes from the address `begin` up to `end`.
    """
    session = context.session
    session.device.sync()
    places: list[int] = []
    at = begin
    while at < end and len(places) < most:
        session.interrupts.check()
        length = min(PIECE + len(pattern) - 1, end - at)
        try:
            data = session.device.memory.peek(at, length)
        except Fault as fault:
            raise CommandError(fault.message) from None
        place = data.find(pattern)
        while place >= 0 and len(places) < most:
            places.append(at + place)
            place = data.find(pattern, place + 1)
        at += PIECE
    return list(dict.fromkeys(places))


def _search_source(context: Context, line: Line) -> Answer:
    pattern = compile_pattern(line.get("TEXT") or "")
    file, here = present_line(context)
    lines = source_lines(file)
    if line.command == "reverse-search":
        first = here if context.list_start is None else context.list_start[1] - 1
        numbers = range(min(first, len(lines)), 0, -1)
    else:
        first = here if context.list_position is None else context.list_position[1] - 1
        numbers = range(first + 1, len(lines) + 1)
    found = next((at for at in numbers if pattern.search(lines[at - 1])), None)
    if found is None:
        raise CommandError(f"no further line of {file} matches")
    context.list_position = file, found + 1
    context.list_start = file, found
    return answers.table(("line", file), [(found, lines[found - 1])])


command(
    "search TEXT",
    "look",
    "show the next line of the source that matches a regular expression",
    aliases=("forward-search", "fo"),
)(_search_source)
command(
    "reverse-search TEXT",
    "look",
    "show the last line of the source before this one that matches a regular expression",
    aliases=("rev",),
)(_search_source)


@command("apropos TEXT", "rest", "list the commands whose help contains a text", aliases=("ap",))
def _apropos(context: Context, line: Line) -> Answer:
    text = (line.get("TEXT") or "").lower()
    rows = [
        (row.usage, row.meaning)
        for row in COMMANDS.values()
        if any(text in part.lower() for part in (row.usage, row.meaning, row.details, *row.aliases))
    ]
    for own in context.user_commands.values():
        meaning = " ".join(own.meaning) or "; ".join(own.lines)
        if text in own.name.lower() or text in meaning.lower():
            rows.append((own.name, meaning))
    return answers.table(("command", "what it does"), rows)
