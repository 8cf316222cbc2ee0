"""The directives for symbols, and the directives that report errors and warnings of a source."""

from __future__ import annotations

from macaw.asm.core_parts import CoreParts
from macaw.asm.data import MAX_BYTES
from macaw.asm.diagnostics import did_you_mean
from macaw.asm.directive import check_count, name_of, symbol_of, wrong_operands
from macaw.asm.expressions import number
from macaw.asm.program import SYMBOL_KINDS
from macaw.asm.program_symbols import second_definition
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import CommonSymbol, Deferred, Definition
from macaw.asm.syntax import Mistake, Name, Node, Statement, Text, unplaced

# GNU as's types of symbols, and the type that the object file stores for each.
_KINDS = {
    "function": "func", "gnu_indirect_function": "func", "common": "object",
    "gnu_unique_object": "object",
}  # fmt: skip


def set_symbol(context: StatementContext, statement: Statement) -> None:
    """Carry out `.set`, `.equ` or `=`: set a symbol that may be set again. Raises `Mistake`."""
    if len(statement.operands) != 2 or not isinstance(statement.operands[0], Name | Text):
        if statement.operands and isinstance(statement.operands[0], Name):
            context.spoil(statement.operands[0])
        raise wrong_operands(statement, ".set NAME, value")
    name, value = symbol_of(statement.operands[0]), statement.operands[1]
    with context.spoil_on_error(name):
        context.assign(name, context.assigned_value(value))


def set_new_symbol(context: StatementContext, statement: Statement) -> None:
    """Carry out `.equiv`: set a symbol that must be new. Raises `Mistake`."""
    if statement.operands and isinstance(statement.operands[0], Name | Text):
        name = symbol_of(statement.operands[0])
        before = context.scope.clash(name.text)
        if before is not None:
            raise second_definition(name, before, context.scope)
    set_symbol(context, statement)


def share_symbols(context: StatementContext, statement: Statement) -> None:
    """Carry out `.global`: share symbols among all files. Raises `Mistake`."""
    check_count(statement, 1, 1 << 16, ".global NAME, ...")
    for node in statement.operands:
        name = symbol_of(node)
        other = context.scope.export(name.text, context.line, name.start, name.end)
        if other is not None:
            raise second_definition(name, other, context.scope)


def weaken_symbols(context: StatementContext, statement: Statement) -> None:
    """Carry out `.weak`: share symbols among all files as weak symbols, which may be undefined.

    Raises `Mistake`.
    """
    check_count(statement, 1, 1 << 16, ".weak NAME, ...")
    for node in statement.operands:
        name = symbol_of(node)
        context.scope.weaken(name.text, context.line, name.start, name.end)


def keep_symbols(context: StatementContext, statement: Statement) -> None:
    """Carry out `.local`: make common symbols (`.comm`) private to the file. Raises `Mistake`.

    Other symbols are private anyway, unless `.global` shares them.
    """
    check_count(statement, 1, 1 << 16, ".local NAME, ...")
    context.scope.local.update(symbol_of(node).text for node in statement.operands)


def declare_common(context: StatementContext, statement: Statement) -> None:
    """Carry out `.comm NAME, bytes, align`: reserve zeros for a symbol unless a file defines it.

    Raises `Mistake`.
    """
    check_count(statement, 2, 3, ".comm NAME, bytes [, align]")
    name = symbol_of(statement.operands[0])
    size, align = _size_and_align(context, statement)
    item = CommonSymbol(name.text, context.scope, context.line, name.start, name.end, size, align)
    context.state.commons.append(item)
    context.scope.common.add(name.text)


def declare_local_common(parts: CoreParts, context: StatementContext, statement: Statement) -> None:
    """Carry out `.lcomm NAME, bytes, align`: reserve zeros in `.bss` for a symbol of this file.

    Raises `Mistake`.
    """
    check_count(statement, 2, 3, ".lcomm NAME, bytes [, align]")
    name = symbol_of(statement.operands[0])
    size, align = _size_and_align(context, statement)
    here = context.at_end(parts.zeros())
    here.align(align)
    symbol = here.at_end().new_label(name)
    symbol.kind, symbol.size = "object", size
    here.reserve(size)


def _size_and_align(context: StatementContext, statement: Statement) -> tuple[int, int]:
    """Return the size and the alignment, both in bytes, of `.comm` or `.lcomm`.

    The default alignment is the largest power of two that is at most the size and at most 8. Raises
    `Mistake`.
    """
    nodes = statement.operands
    size = context.bounded_number(nodes[1], "size", 0, MAX_BYTES)
    if len(nodes) == 2:
        return size, min(8, 1 << max(size, 1).bit_length() - 1)
    align = context.bounded_number(nodes[2], "alignment in bytes", 1, 1 << 16)
    if align & (align - 1):
        raise Mistake(f"an alignment is a power of two, not {align}", nodes[2])
    return size, align


def set_formula(context: StatementContext, statement: Statement) -> None:
    """Carry out `.eqv` or `==`: define a symbol as an expression, which each use evaluates again.

    Raises `Mistake`.
    """
    if len(statement.operands) != 2:
        raise wrong_operands(statement, ".eqv NAME, value")
    name = symbol_of(statement.operands[0])
    symbol = context.new_symbol(name)
    symbol.is_label, symbol.formula = False, unplaced(statement.operands[1])
    symbol.value = Deferred(symbol.formula, context, context.line)
    context.state.symbols.has_variables = True


def set_type(context: StatementContext, statement: Statement) -> None:
    """Carry out `.type`: set the type of a symbol in the object file. Raises `Mistake`."""
    syntax = ".type NAME, " + " | ".join(("function", *SYMBOL_KINDS))
    check_count(statement, 2, 2, syntax)
    name, word = symbol_of(statement.operands[0]), _type_word(statement.operands[1])
    spelled = word.text.lstrip("@%").removeprefix("STT_").lower()
    kind = _KINDS.get(spelled, spelled)
    if kind not in SYMBOL_KINDS:
        hint = did_you_mean(word.text, ("function", *SYMBOL_KINDS)) or f"write {syntax}"
        raise Mistake(f"'{word.text}' is no type of a symbol", word, hint)

    def enter() -> None:
        symbol = _definition(context, name)
        if symbol is not None:
            symbol.kind = kind

    context.after_layout(enter)


def _type_word(node: Node) -> Name:
    return symbol_of(node) if isinstance(node, Text) else name_of(node, "a type")


def set_size(context: StatementContext, statement: Statement) -> None:
    """Carry out `.size`: set the size of a symbol in the object file, in bytes.

    Raises `Mistake`.
    """
    check_count(statement, 2, 2, ".size NAME, bytes")
    name = symbol_of(statement.operands[0])
    value = context.value(statement.operands[1])

    def enter() -> None:
        size = number(value.node, value.context) if isinstance(value, Deferred) else value
        if not isinstance(size, int) or not 0 <= size < 1 << 32:
            raise Mistake("a size is a number from 0 to 4294967295", statement.operands[1])
        symbol = _definition(context, name)
        if symbol is not None:
            symbol.size = size

    context.after_layout(enter)


def _definition(context: StatementContext, name: Name) -> Definition | None:
    """Return the latest definition of a symbol, after all sources are read.

    Return None for a symbol that needs no definition: a weak symbol, or a symbol that a linker
    finds. Raises `Mistake`.
    """
    context.definition(name)
    return context.scope.find(name.text)


def _user_message(context: StatementContext, statement: Statement) -> tuple[str, tuple[int, int]]:
    """Return the text of `.error` or `.warning`, and its (start, end) offsets in the line."""
    assert statement.head is not None
    name, place = statement.head.text, (statement.head.start, statement.end)
    if not statement.operands:
        return f"the source has {name} here", place
    if len(statement.operands) > 1 or not isinstance(statement.operands[0], Text):
        raise wrong_operands(statement, f'{name} ["text"]')
    return statement.operands[0].value.decode("utf-8", "replace"), place


def user_error(context: StatementContext, statement: Statement) -> None:
    """Carry out `.error`: raise a `Mistake` with the text that the source gives."""
    raise Mistake(*_user_message(context, statement))


def user_warning(context: StatementContext, statement: Statement) -> None:
    """Carry out `.warning`: report a warning with the text that the source gives.

    Raises `Mistake` for wrong operands.
    """
    message, place = _user_message(context, statement)
    context.state.report.warning(context.line, place, message, name="user")


def bare_error(context: StatementContext, statement: Statement) -> None:
    """Carry out `.err`: raise a `Mistake`."""
    assert statement.head is not None
    check_count(statement, 0, 0, ".err")
    raise Mistake("the source has .err here", statement.head)
