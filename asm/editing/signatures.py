"""Finds the ways to write the statement at a position, and the operand at the cursor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from macaw.asm.editing import cursor
from macaw.asm.editing.completion import directives
from macaw.asm.editing.cursor import Cursor
from macaw.asm.editing.file_view import FileView
from macaw.isa import codec
from macaw.isa.model import Core
from macaw.isa.rows import Operand, PseudoOperand, Row

_NAMED = re.compile(r"(\w+)=")


@dataclass(frozen=True, slots=True)
class Parameter:
    """An operand: its range in the signature's label (`start` up to `end`), and its meaning."""

    start: int
    end: int
    meaning: str


@dataclass(frozen=True, slots=True)
class Signature:
    """A way to write a statement: `label` is its syntax.

    `active` is the index of the parameter at the cursor; None if no parameter is there.
    """

    label: str
    meaning: str
    parameters: Sequence[Parameter]
    active: int | None


def signatures(view: FileView, line: int, column: int) -> list[Signature]:
    """Return the ways to write the statement at a position, with the best one first."""
    offset = view.offset(line, column)
    place = cursor.at(view.file.tokens, offset)
    if not place.head:  # before a mnemonic, or in a comment
        return []
    macro = view.macro(place.head)
    if macro is not None:
        return [_of_text(macro.syntax, "A macro.", place)]
    core = view.core_at(offset)
    rows = core.rows.get(place.head, ()) if core is not None else ()
    if core is not None and rows:
        found = [_of_row(core, row, place) for row in rows]
        return sorted(found, key=lambda item: item.active is None)
    directive = directives(core).get(place.head)
    return [] if directive is None else [_of_text(directive.syntax, directive.meaning, place)]


def _of_row(core: Core, row: Row, place: Cursor) -> Signature:
    """Return the signature of an instruction."""
    carried = getattr(row, "carries", ())
    label = ", ".join([codec.syntax(row), *(form for form, _meaning in carried)])
    parameters = list(_operands(row, label))
    position = parameters[-1].end if parameters else len(row.mnemonic)
    for form, meaning in carried:
        start = label.index(form, position)
        position = start + len(form)
        parameters.append(Parameter(start, position, meaning))
    return Signature(label, row.meaning, parameters, _active(core, row, place))


def active_operands(core: Core, rows: Iterable[Row], place: Cursor) -> set[str]:
    """Return the names of the operands at the cursor, in any of a mnemonic's rows."""
    places = [(row, _active(core, row, place)) for row in rows]
    return {_operand_names(row)[at] for row, at in places if at is not None}


def _operand_names(row: Row) -> list[str]:
    """Return the names of an instruction's operands, first those that its word contains.

    The others, such as `data` of an exe, are in the packet around the word.
    """
    carried = (form.rstrip("=") for form, _meaning in getattr(row, "carries", ()))
    return [*(operand.name for operand in row.operands), *carried]


def _operands(row: Row, label: str) -> Iterator[Parameter]:
    position = len(row.mnemonic)
    for operand in row.operands:
        match = re.compile(rf"\b{re.escape(operand.name)}\b(?:=[-\w]*)?").search(label, position)
        assert match is not None
        position = match.end()
        yield Parameter(match.start(), position, f"{operand.name}: {_range(operand)}")


def _range(operand: Operand | PseudoOperand) -> str:
    text = operand.kind.describe()
    if operand.default is not None and not operand.kind.optional and not operand.inside:
        text += f"; {operand.kind.format(operand.default)} if left out"
    return text


def _active(core: Core, row: Row, place: Cursor) -> int | None:
    """Return the index in `_operand_names` of the operand at the cursor `place`, or None."""
    names = _operand_names(row)
    if place.named:
        name = place.named.rstrip("=")
        return names.index(name) if name in names else None
    is_call = core.called and place.depth > 0
    index, depth = (place.inner, place.depth - 1) if is_call else (place.operand, place.depth)
    outer = [item for item in row.operands if not item.inside]
    if index >= len(outer):
        carried = len(names) - len(row.operands)
        return len(row.operands) if index < len(outer) + carried else None
    chosen: Operand | PseudoOperand = outer[index]
    if depth:
        chosen = next((x for x in row.operands if x.inside == chosen.name), chosen)
    return names.index(chosen.name)


def _of_text(syntax: str, meaning: str, place: Cursor) -> Signature:
    """Return the signature of a directive or macro; `syntax` becomes its label."""
    head, _, rest = syntax.partition(" ")
    parameters = list(_pieces(rest, len(head) + 1))
    active: int | None = place.operand if place.operand < len(parameters) else None
    if active is None and parameters and "..." in syntax:
        active = len(parameters) - 1
    if place.named:
        texts = [syntax[item.start : item.end] for item in parameters]
        named = (x for x, text in enumerate(texts) if place.named in _names(text))
        active = next(named, active)
    return Signature(syntax, meaning, parameters, active)


def _names(text: str) -> Iterable[str]:
    return (f"{name}=" for name in _NAMED.findall(text))


def _pieces(text: str, start: int) -> Iterator[Parameter]:
    """Yield the operands in a piece of syntax that begins at offset `start` of the label."""
    for match in re.finditer(r"[^,\[\]\s][^,\[\]]*", text):
        piece = match[0].rstrip()
        first = start + match.start()
        yield Parameter(first, first + len(piece), "")
