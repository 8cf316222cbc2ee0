"""The commands `list` and `disassemble`: lines of source, and instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.code import Row, around, instructions, source_lines, source_names
from macaw.debugger.commands.frames import chosen_frame
from macaw.debugger.commands.line import CommandError, Line, parse_number
from macaw.debugger.commands.operands import address_of, number_of
from macaw.debugger.commands.table import command
from macaw.debugger.locations import LocationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from macaw.debugger.commands.context import Context
    from macaw.debugger.stops import Where

LINES = 10  # lines of source, or instructions, that are shown by default
MOST = 10_000  # the greatest number that one command shows
_LETTERS = {"r": "the words of instructions", "s": "lines of source", "m": "lines of source"}


@command(
    "disassemble [E]",
    "look",
    "list instructions around an address; without E: around the focus",
    suffix="F",
    aliases=("disas",),
    details="E is an address, `A,B` (from A up to B) or `A,+N` (N bytes from A on)\n"
    + "; ".join(f"{letter}: with {what}" for letter, what in _LETTERS.items()),
)
def _disassemble(context: Context, line: Line) -> Answer:
    session, text = context.session, line.get("E")
    unknown = set(line.suffix) - set(_LETTERS)
    if unknown:
        raise CommandError(f"'{line.suffix}' is no format of disassemble", "disassemble/rs")
    if text and "," in text:
        rows = _instructions_between(context, line, text)
    else:
        place = address_of(context, line, text) if text else session.core.next_address
        if place is None:
            raise CommandError(
                f"{session.core.name} has no address", "give one, or a focus that runs"
            )
        rows = around(session, place, 0 if text else LINES // 3, LINES)
    return _listing(context, rows, line.suffix)


def _instructions_between(context: Context, line: Line, text: str) -> list[Row]:
    first, _, last = text.partition(",")
    begin = address_of(context, line, first)
    last = last.strip()
    if last.startswith("+"):
        end = begin + number_of(context, line, last.removeprefix("+"))
    else:
        end = address_of(context, line, last)
    if end <= begin:
        raise CommandError(f"{text} is no range: its end is not after its beginning")
    rows = instructions(context.session, begin, MOST)
    return [row for row in rows if row.address < end]


def _listing(context: Context, rows: Sequence[Row], letters: str) -> Answer:
    """Return a table of instructions.

    If `letters` contains `r`, the table has the words in memory in hexadecimal. If it contains `s`
    or `m`, the table has the source line above its instructions.
    """
    with_source = "s" in letters or "m" in letters
    cells: list[tuple[str | None, ...]] = []
    before = None
    for row in rows:
        place = f"{row.line[0]}:{row.line[1]}" if row.line else None
        if with_source and row.line is not None and row.line != before:
            cells.append(("", *([""] if "r" in letters else []), _source_of(row.line), place))
        before = row.line
        word: list[str] = []
        if "r" in letters:
            size = row.next - row.address
            word = [context.session.device.memory.peek(row.address, size)[::-1].hex()]
        cells.append((f"{row.mark} {row.where}".strip() if with_source else row.where, *word,
                      row.text, None if with_source else place))  # fmt: skip
    if with_source:
        return answers.table(
            ("address", *(["word"] if "r" in letters else []), "instruction", "source"), cells
        )
    marks = [row.mark for row in rows]
    columns = ("", "address", *(["word"] if "r" in letters else []), "instruction", "source")
    return answers.table(columns, [(mark, *cell) for mark, cell in zip(marks, cells, strict=True)])


def _source_of(line: tuple[str, int]) -> str:
    try:
        return source_lines(line[0])[line[1] - 1].strip()
    except (CommandError, IndexError):
        return ""


class Lines(NamedTuple):
    """A range of lines of a file, from `first` to `last`, both included."""

    file: str
    first: int
    last: int


@command(
    "list [LOC]",
    "look",
    "list source around a line or symbol; without LOC: around the focus, then the next lines",
    aliases=("l",),
    repeats=True,
    alone=True,
    details="LOC is a line, FILE:LINE, a symbol or *ADDRESS; `A,B` lists from A to B, `A,` from A\n"
    "on, `,B` up to B; `-` lists the lines before those that were listed last",
)
def _list(context: Context, line: Line) -> Answer:
    chosen = _chosen_lines(context, line.get("LOC"))
    lines = source_lines(chosen.file)
    first = max(1, chosen.first)
    if first > len(lines):
        raise CommandError(f"{chosen.file} has {len(lines)} lines")
    here = context.session.where()
    last = min(len(lines), max(chosen.last, first))
    rows = [
        ("=>" if (here.file, here.line) == (chosen.file, at) else "", at, lines[at - 1])
        for at in range(first, last + 1)
    ]
    context.list_position = chosen.file, first + len(rows)
    context.list_start = chosen.file, first
    return answers.table(("", "line", chosen.file), rows)


def _chosen_lines(context: Context, text: str | None) -> Lines:
    """Return the lines that the operand `text` of `list` denotes. Raises `CommandError`."""
    if text is None:
        if context.list_position is not None:
            file, first = context.list_position
            return Lines(file, first, first + LINES - 1)
        return _around(*present_line(context))
    if text == "-":
        return _before(context)
    if "," not in text:
        return _around(*line_of(context, text))
    left, _, right = (part.strip() for part in text.partition(","))
    if not left:
        file, last = line_of(context, right)
        return Lines(file, max(1, last - LINES + 1), last)
    file, first = line_of(context, left)
    if not right:
        return Lines(file, first, first + LINES - 1)
    if right.startswith("+"):
        return Lines(file, first, min(first + parse_number(right[1:], base=10), first + MOST - 1))
    other, last = (
        (file, parse_number(right, base=10)) if right.isdecimal() else line_of(context, right)
    )
    if other != file or last < first:
        raise CommandError(f"{text} is no range of lines in one file")
    return Lines(file, first, min(last, first + MOST - 1))


def _around(file: str, number: int) -> Lines:
    first = max(1, number - LINES // 2)
    return Lines(file, first, first + LINES - 1)


def _before(context: Context) -> Lines:
    if context.list_start is None:
        file, number = present_line(context)
        first = number - LINES // 2
    else:
        file, first = context.list_start
    if first <= 1:
        raise CommandError(f"{file} begins there")
    return Lines(file, max(1, first - LINES), first - 1)


def present_line(context: Context) -> tuple[str, int]:
    """Return (file, line) of the chosen call, or of the last stop. Raises `CommandError`."""
    session = context.session
    here: Where | None = session.where()
    last = session.last_stop.where
    assert here is not None
    if here.file is None and last is not None and last.core == here.core:
        here = last  # the core has ended at this line
    if context.frame:
        here = chosen_frame(context)
    if here.file is None or here.line is None:
        raise CommandError(f"{here.core} is at no line of a source", "list FILE:LINE, a symbol")
    return here.file, here.line


def line_of(context: Context, text: str) -> tuple[str, int]:
    """Return (file, line) that a text denotes: `12`, `FILE:12`, a symbol or `*ADDRESS`.

    Raises `CommandError`.
    """
    session = context.session
    file, colon, line_text = text.rpartition(":")
    if text.isdecimal():
        return present_line(context)[0], parse_number(text, base=10)
    if colon and line_text.isdecimal():
        return _file(context, file), parse_number(line_text, base=10)
    try:
        address = session.locate(text).addresses[0]
    except LocationError as error:
        raise CommandError(str(error), "FILE:LINE, a line, or a symbol") from None
    line = session.program.line_at(address)
    if line is None:
        raise CommandError(f"{text} is at no line of a source")
    return line.file, line.line


def _file(context: Context, text: str) -> str:
    """Return the source file whose path is `text` or ends with it. Raises `CommandError`."""
    files = source_names(context.session)
    matches = [name for name in files if name == text or name.endswith(f"/{text}")]
    if len(matches) != 1:
        raise CommandError(f"no source of the program is called '{text}'", ", ".join(files[:8]))
    return matches[0]
