"""The texts that an editor shows for symbols, macros and operands; the spans of definitions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from macaw.asm.diagnostics import Span
from macaw.asm.expressions import Address
from macaw.asm.layout import Area, Layout
from macaw.asm.macro import Macro
from macaw.asm.macro_body import ExpandedText
from macaw.asm.object_symbols import address_of
from macaw.asm.program_symbols import ProgramSymbols
from macaw.asm.source import LogicalLine
from macaw.asm.symbols import Definition
from macaw.isa.rows import Operand, PseudoOperand, Row

_MOST_LINES = 12  # lines of a macro that are shown


def place(symbol: Definition) -> Span:
    """Return the span of a symbol's definition.

    If the definition is in an expansion, return the span of the outermost call or repetition.
    """
    return _in_a_file(symbol.line, symbol.start, symbol.end)


def macro_place(macro: Macro) -> Span:
    """Return the span of the name in a macro's definition.

    If the definition is in an expansion, return the span of the outermost call or repetition.
    """
    return _in_a_file(macro.line, macro.start, macro.end)


def _in_a_file(line: LogicalLine, start: int, end: int) -> Span:
    """Return the span of a piece of a line in a file.

    If the line is part of an expansion, return the span of the outermost call.
    """
    while isinstance(line.source, ExpandedText) and line.source.caller is not None:
        caller = line.source.caller
        line, start, end = caller.line, caller.start, caller.end
    return line.source.span(line.start + start, line.start + end)


def is_expanded(symbol: Definition) -> bool:
    """Return whether the line that defines the symbol is in an expansion."""
    return isinstance(symbol.line.source, ExpandedText)


def is_written(symbol: Definition) -> bool:
    """Return whether the symbol's name is in its source line, with or without quotes.

    A symbol of `-D` has no such line.
    """
    written = symbol.line.text[symbol.start : symbol.end]
    return written in (symbol.name, f'"{symbol.name}"')


def macro_text(macro: Macro) -> str:
    """Return a macro's `.macro` line and the first lines of its body, in Markdown."""
    lines = [line.text for line in macro.body.lines] if macro.body is not None else []
    body = [f"        {line}" for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        body.append(f"        # ... {len(lines) - _MOST_LINES} more lines")
    return code("\n".join([f".macro {macro.syntax}", *body, ".endm"]))


def kind(symbol: Definition, names: ProgramSymbols, layout: Layout) -> str:
    """Return the symbol's kind for the outline: constant, code, data or tensor.

    A label is code if a core can execute its section, unless a directive stores typed data there.
    """
    if not symbol.is_label:
        return "constant"
    datum = names.datum(symbol)
    if datum is not None:
        return "tensor" if datum.what == "tensor" else "data"
    plan = layout.plans.get(symbol.area.section) if isinstance(symbol.area, Area) else None
    return "data" if plan is not None and "x" not in plan.flags else "code"


def value(symbol: Definition, names: ProgramSymbols) -> str:
    """Return a description of a symbol's value in one line."""
    if isinstance(symbol.value, int):
        return f"{symbol.value} ({symbol.value & 0xFFFF_FFFF_FFFF_FFFF:#x})"
    if not isinstance(symbol.value, Address) or not isinstance(symbol.value.area, Area):
        return "its value is not known"
    words = [names.direction(symbol)]
    datum = names.datum(symbol)
    if datum is not None:
        shape = " x ".join(map(str, datum.shape))
        words += [datum.what if datum.what != "tensor" else "", datum.dtype, shape]
        words.append(f"{datum.size} bytes")
    words.append(f"at {address_of(symbol):#x} in {symbol.value.area.section}")
    return ", ".join(word for word in words if word)


def code(text: str, language: str = "macaw") -> str:
    """Return a code block in Markdown."""
    return f"```{language}\n{text.rstrip()}\n```"


def operands(rows: Iterable[Row]) -> Iterator[Operand | PseudoOperand]:
    """Yield the operands of a mnemonic's rows. If several have the same name, yield the first."""
    seen = set()
    for row in rows:
        for operand in row.operands:
            if operand.name not in seen:
                seen.add(operand.name)
                yield operand


def operand_text(word: str, rows: Iterable[Row], named: bool, here: Collection[str]) -> str | None:
    """Return the meaning of `word`, or None if it has no known meaning.

    With `named`, `word` is the name of an operand. Otherwise it is a word that an operand accepts.
    If several operands accept it, one whose name is in `here` has priority. `here` has the names of
    the operands that can be at the position of `word`.
    """
    for operand in sorted(operands(rows), key=lambda operand: operand.name not in here):
        if named and operand.name == word:
            return f"**{word}**: {operand.kind.describe()}"
        if not named and operand.kind.parse(word) is not None:
            value = operand.kind.parse(word)
            about = operand.kind.about(word) or operand.kind.describe()
            return f"**{word}**: {operand.name} {value}, {about}"
    return None
