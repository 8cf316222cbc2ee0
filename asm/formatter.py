"""Formats sources: aligns statements and comments to columns, and normalises blanks.

The formatter changes only blanks and empty lines. It reads the text before macros, conditionals and
includes are expanded, so it also formats fragments and sources with mistakes. In a line
with an unterminated string, and in the lines of a comment over several lines, it only removes
blanks at the end. `macaw.asm.columns` defines the columns; `macaw.asm.equivalence` checks that the
new text has the same meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from macaw.asm import columns
from macaw.asm.source import CHARACTER, COMMENT, STRING
from macaw.isa import registry
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.lazy_pattern import lazy_pattern

_LONGEST_LABEL = 24  # a label of this length or more does not affect adjacent statements
_LAST_COMMENT = 56  # a comment after this column does not affect adjacent comments
_CONTINUED = 24  # a comment alone from this column on continues the one above it
_STEP = 8  # step of the columns of comments

BLANKS = " \t\r\f\v"
_NAME = r"(?:[\w.$]|\\@|\\\(\)|\\\w+)+"  # and `\name`, the arguments in a macro's body
TOKEN = lazy_pattern(
    rf"(?P<comment>{COMMENT})|(?P<string>{STRING})|(?P<character>{CHARACTER})"
    rf"|(?P<blank>[{BLANKS}]+)|(?P<end>;)|(?P<word>{_NAME}|\\\()"
    r"|(?P<other>\|\||&&|[<>=!]=|<>|<<|>>|.)"
)
_LABEL = lazy_pattern(rf'({_NAME}|"(?:[^"\\]|\\.)*") ?:(?!:) ?')
_ASSIGNMENT = lazy_pattern(rf"({_NAME}) ?=(?!=) ?(.*)")
_HEAD = lazy_pattern(r"([^ \"']+) *(.*)")
_PART = ".core"  # begins a part, which ends an open body
LETTERS = ".irpc"  # blanks in its operand are significant
NO_DIRECTIVE = (":", "=")  # the word before such a token is a label or a symbol


@dataclass(slots=True)
class _Line:
    """A line of the text, divided into labels, statements and comment.

    `first` is the first statement, `others` the rest of the statements. `stood` is the column of a
    comment without a statement. `body` is true for a line in the body of a directive such as
    `.seq`. If the line must not be changed, `kept` is the line and the other fields are empty.
    """

    kept: str = ""
    labels: str = ""
    first: str = ""  # the first statement, one blank between head and operands
    others: str = ""  # the rest of the line, from a `;` on
    comment: str = ""
    stood: int = 0  # the column of a comment without a statement
    body: bool = False  # between a directive and the one that ends its body
    column: int = 0  # the column of the first statement, as `_place` sets it

    @property
    def empty(self) -> bool:
        """Whether the line is empty."""
        return not (self.kept or self.labels or self.first or self.comment)

    @property
    def usual_column(self) -> int:
        """The column of statements after short labels, and of comments without a statement."""
        if self.body and not self.first.startswith("."):
            return columns.BODY
        return columns.STATEMENT


def format_text(text: str) -> str:
    """Return the formatted source. Formatting the result again changes nothing."""
    lines = list(_read_line(text))
    _place(lines)
    paragraphs = [
        _lay_out(list(paragraph))
        for empty, paragraph in groupby(lines, key=lambda line: line.empty)
        if not empty
    ]
    return "\n".join("".join(f"{line}\n" for line in paragraph) for paragraph in paragraphs)


# --- reading ------------------------------------------------------------------------------


def _read_line(text: str) -> Iterator[_Line]:
    """Yield each physical line of the text, with single blanks and without columns."""
    ends = _ends_of_bodies()
    inside, end = False, ""  # in a comment over several lines; the directive that ends the body
    for physical in text.split("\n"):
        was_inside, (inside, tokens) = inside, _tokens(physical, inside=inside)
        line = None if inside or was_inside else _line(tokens, physical)
        if line is None:
            yield _Line(kept=physical.rstrip(BLANKS))
            continue
        head = line.first.partition(" ")[0]
        end = "" if head in (end, _PART) else end
        line.body = bool(end)
        end = ends.get(head, end)
        yield line


def _ends_of_bodies() -> dict[str, str]:
    """Return the directives that end a body (`.endseq`), by those that begin it (`.seq`)."""
    return {
        item.name: item.end for core in registry.cores() for item in core.directives if item.end
    }


def _tokens(physical: str, *, inside: bool) -> tuple[bool, list[re.Match[str]]]:
    """Return whether a comment continues after the line `physical`, and the line's tokens.

    With `inside`, the line begins within a comment.
    """
    start = physical.find("*/") + 2 if inside else 0
    if inside and start < 2:
        return True, []
    tokens = list(TOKEN.finditer(physical, start))
    last = tokens[-1] if tokens else None
    open_comment = (
        last is not None
        and last.lastgroup == "comment"
        and last[0].startswith("/*")
        and not last[0].endswith("*/", 2)
    )
    return open_comment, tokens


def _line(tokens: list[re.Match[str]], physical: str) -> _Line | None:
    """Return a line as labels, statements and comment; None if the line must not be changed."""
    while tokens and tokens[-1].lastgroup == "blank":
        tokens.pop()
    if not tokens:
        return _Line()
    comment = ""
    if tokens[-1].lastgroup == "comment":
        comment = tokens.pop()[0].rstrip(BLANKS)
        if all(token.lastgroup == "blank" for token in tokens):
            before = physical[: physical.index(comment)].expandtabs()
            return _Line(comment=comment, stood=len(before))
    last = tokens[-1]
    if last.lastgroup == "string" and re.fullmatch(STRING.removesuffix("?"), last[0]) is None:
        return None
    labels, *statements = _statements(tokens)
    if any("/*" in item.partition(" ")[0] for item in (labels, *statements)):
        return None
    if not labels and not statements[0]:
        return None  # a `;` with nothing before it
    others = "".join(f"; {item}".rstrip() for item in statements[1:])
    if not statements[0] and others:
        return None
    return _Line(labels=labels, first=statements[0], others=others, comment=comment)


def _statements(tokens: list[re.Match[str]]) -> list[str]:
    """Return the labels at the start of a line as one text, then the line's statements."""
    pieces = [""]
    gap = ""  # the blanks before the token
    before = ""  # the previous token of the statement
    letters = False
    for token in tokens:
        text = token[0]
        if token.lastgroup == "blank":
            gap = text
            continue
        if token.lastgroup == "end":
            pieces.append("")
            before, letters = "", False
        else:
            if before == LETTERS and text in NO_DIRECTIVE:
                letters = False
            if letters:
                pieces[-1] += gap
            elif before and _apart(before, text, blank=bool(gap)):
                pieces[-1] += " "
            pieces[-1] += text
            before, letters = text, letters or text == LETTERS
        gap = ""
    labels, end = [], 0
    while match := _LABEL.match(pieces[0], end):
        labels.append(f"{match[1]}:")
        end = match.end()
    pieces[0] = pieces[0][end:]
    return [" ".join(labels), *map(_space, pieces)]


def _apart(before: str, after: str, *, blank: bool) -> bool:
    """Return whether the formatter writes a blank between the tokens `before` and `after`.

    `blank` is true if the source has a blank there.
    """
    if before == "\\(":
        return blank  # `\()` is one token of macros, `\( )` is not
    if after in (",", ")", "]") or before in ("(", "["):
        return False
    if before == ",":
        return True
    if before == "=":
        return blank and after.startswith("=")  # together they would be another operator
    if after == "=":
        return blank and before in ("<", ">", "!", "=")
    return blank


def _space(statement: str) -> str:
    """Return a statement with exactly one blank between the first word and the operands."""
    if match := _ASSIGNMENT.fullmatch(statement):
        return f"{match[1]} = {match[2]}".rstrip()
    if match := _HEAD.fullmatch(statement):
        return f"{match[1]} {match[2]}".rstrip()
    return statement


def _is_assignment(statement: str) -> bool:
    return _ASSIGNMENT.fullmatch(statement) is not None


# --- writing ------------------------------------------------------------------------------


def _place(lines: list[_Line]) -> None:
    """Set the column of each line's statements; adjacent lines with labels get the same one."""
    for labelled, group in groupby(lines, key=lambda line: bool(line.labels and line.first)):
        neighbours = list(group)
        lengths = [len(x.labels) + 1 for x in neighbours if len(x.labels) < _LONGEST_LABEL]
        for line in neighbours:
            line.column = line.usual_column
            if labelled:
                line.column = max(line.column, *lengths, 0)
            elif _is_assignment(line.first):
                line.column = 0


def _lay_out(paragraph: list[_Line]) -> list[str]:
    """Return the texts of the lines of a paragraph, with their comments in columns.

    A paragraph is consecutive lines that are not empty.
    """
    texts = [line.kept or _statement_text(line) for line in paragraph]
    ends = [
        len(text) + columns.GAP
        for text, line in zip(texts, paragraph, strict=True)
        if text and line.comment
    ]
    reach = max((end for end in ends if end <= _LAST_COMMENT), default=0)
    column = max(columns.COMMENT, reach + -reach % _STEP)
    pieces = []
    goes_on = False  # whether a comment below may continue this line's
    for text, line in zip(texts, paragraph, strict=True):
        alone = bool(line.comment) and not text
        goes_on = goes_on and line.stood >= _CONTINUED if alone else bool(line.comment)
        if not alone:
            pieces.append(
                columns.with_comment(text, line.comment, column) if line.comment else text
            )
        elif goes_on:
            pieces.append(" " * column + line.comment)
        else:
            pieces.append(" " * (line.usual_column if line.stood else 0) + line.comment)
    return pieces


def _statement_text(line: _Line) -> str:
    """Return a line's labels and statements, aligned to their columns."""
    if not line.first:
        return line.labels + line.others
    first = line.first
    if not _is_assignment(first) and _HEAD.fullmatch(first):
        first = columns.statement(first, line.usual_column)
    labels = f"{line.labels} " if line.labels else ""
    return labels.ljust(line.column) + first + line.others
