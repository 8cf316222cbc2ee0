"""The directives that change the section (`.section`, `.text`, `.previous`, ...), as in GNU as."""

from __future__ import annotations

from collections.abc import Sequence

from macaw.asm.core_parts import CoreParts
from macaw.asm.directive import check_count
from macaw.asm.section_names import SectionWords
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Binary, Mistake, Name, Node, Statement, Text

_FLAGS = "awxMSGeo?0123456789"
_KINDS = (
    "progbits", "nobits", "note", "init_array", "fini_array", "preinit_array", "unwind",
)  # fmt: skip
SECTION = '.section NAME [, "flags" [, @type [, size]]]'


def enter_section(parts: CoreParts, context: StatementContext, statement: Statement) -> None:
    """Carry out `.section NAME`, with flags and type. Raises `Mistake`."""
    check_count(statement, 1, 6, SECTION)
    name = _name(context, statement.operands[0])
    parts.enter_section(context.line, name, _words(context, statement.operands[1:]))


def push_section(parts: CoreParts, context: StatementContext, statement: Statement) -> None:
    """Carry out `.pushsection NAME`, with a subsection and with all operands of `.section`.

    Raises `Mistake`.
    """
    check_count(statement, 1, 7, f".pushsection{SECTION.removeprefix('.section')}")
    name, operands, number = _name(context, statement.operands[0]), statement.operands[1:], 0
    if operands and not isinstance(operands[0], Text):
        number, operands = _subsection(context, operands[0]), operands[1:]
    parts.push_section()
    try:
        parts.enter_section(context.line, name, _words(context, operands, number))
    except Mistake:
        parts.enter_dropped()  # the bytes up to `.popsection` are discarded
        raise


def pop_section(parts: CoreParts, _context: StatementContext, statement: Statement) -> None:
    """Carry out `.popsection`. Raises `Mistake` if there was no `.pushsection`."""
    check_count(statement, 0, 0, ".popsection")
    assert statement.head is not None
    parts.pop_section(statement.head)


def enter_previous(parts: CoreParts, _context: StatementContext, statement: Statement) -> None:
    """Carry out `.previous`: exchange the current and the previous section. Raises `Mistake`."""
    check_count(statement, 0, 0, ".previous")
    assert statement.head is not None
    parts.enter_previous(statement.head)


def enter_own_section(parts: CoreParts, context: StatementContext, statement: Statement) -> None:
    """Carry out `.text`, `.data` or `.bss`; the operand may be a subsection's number.

    Raises `Mistake`.
    """
    assert statement.head is not None
    number = 0
    if len(statement.operands) == 1:
        number = _subsection(context, statement.operands[0])
    parts.enter_section(context.line, statement.head, SectionWords(number=number))
    check_count(statement, 0, 1, f"{statement.head.text} [SUBSECTION]")


def enter_subsection(parts: CoreParts, context: StatementContext, statement: Statement) -> None:
    """Carry out `.subsection NUMBER`. Raises `Mistake`."""
    check_count(statement, 1, 1, ".subsection NUMBER")
    parts.enter_subsection(_subsection(context, statement.operands[0]))


def _subsection(context: StatementContext, node: Node) -> int:
    return context.bounded_number(node, "subsection", 0, 8192)


def _name(context: StatementContext, node: Node) -> Name:
    """Return the name of a section, which may contain a `-` or be in quotes. Raises `Mistake`."""
    if isinstance(node, Text):
        return Name(node.start, node.end, node.value.decode("utf-8", "replace"))
    if not isinstance(node, Name | Binary):
        raise Mistake("the name of a section is needed here", node)
    return Name(node.start, node.end, context.line.text[node.start : node.end])


def _words(context: StatementContext, operands: Sequence[Node], number: int = 0) -> SectionWords:
    """Parse the `operands` after the name in a `.section` line: flags, type and so on.

    `number` is the number of the subsection. Raises `Mistake`.
    """
    if not operands:
        return SectionWords(number=number)
    flags_node, *others = operands
    if not isinstance(flags_node, Text):
        raise Mistake('the flags of a section are needed here, as in "aw"', flags_node)
    flags = flags_node.value.decode("utf-8", "replace")
    if "T" in flags:
        raise Mistake("there are no threads, and no sections for them", flags_node)
    if set(flags) - set(_FLAGS):
        wrong = next(flag for flag in flags if flag not in _FLAGS)
        hint = "a is in memory, w is written, x holds instructions"
        raise Mistake(f"a section has no flag '{wrong}'", flags_node, hint)
    kind = ""
    if others:
        kind, *others = _kind(others[0]), *others[1:]
    if others and "M" in flags:
        context.bounded_number(others[0], "size of an element", 1, 1 << 16)
        others = others[1:]
    group = others[0] if others and "G" in flags else None
    name = group.text if isinstance(group, Name) else ""
    if isinstance(group, Text):
        name = group.value.decode("utf-8", "replace")
    return SectionWords(flags, kind, name, number)


def _kind(node: Node) -> str:
    text = node.value.decode("utf-8", "replace") if isinstance(node, Text) else ""
    text = node.text.lstrip("@%") if isinstance(node, Name) else text
    if text not in _KINDS:
        raise Mistake("the type of a section is needed here, as in @progbits", node)
    return text
