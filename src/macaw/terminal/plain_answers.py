"""Prints the debugger's answers plainly: records in place of tables, words in place of signs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.text import answer_text, cell_text
from macaw.terminal.plain import records

WORDS = {"*": "focus", "=>": "here"}  # what the signs in a first column without a heading mean
LISTING = (["", "line"], ["line"])  # the columns before those of source lines


def plain_answer_text(answer: Answer, line: str = "") -> str:
    """Return the text of an answer to the command `line`, for a screen reader.

    The text of an error quotes the wrong part of the line, without a caret below it.
    """
    if answer.mark is not None:
        wrong = line[answer.mark.begin : answer.mark.end].strip()
        place = f"'{wrong}', column" if wrong else "column"
        message = f"{answer.message}\n  at {place} {answer.mark.begin + 1}"
        answer = replace(answer, message=message, mark=None)
    return answer_text(answer, line, _records)


def _records(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield each row of a table as one line, in which each cell comes after its heading.

    Cells of None are left out. In a listing of a source, the last heading is the name of the file;
    the function yields this name once, before all rows, and not again in each row.
    """
    *before, last = columns
    if before in LISTING:
        yield last
        last = ""
    texts = [["" if cell is None else cell_text(cell) for cell in row] for row in rows]
    for row in texts:
        row[0] = row[0] if columns[0] else WORDS.get(row[0], row[0])
    yield from records((*before, last), texts) if texts else ["none"]
