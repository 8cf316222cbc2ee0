"""Assigns the operands of a statement to those of a table row, by position, name or word."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace

from macaw.asm.diagnostics import did_you_mean, numbered_names
from macaw.asm.expressions import Address, Context, evaluate, not_placed
from macaw.asm.syntax import (
    Checked,
    Group,
    Indexed,
    Inside,
    Mistake,
    Name,
    Named,
    Node,
    Number,
    Phrase,
    Statement,
)
from macaw.isa import codec
from macaw.isa.kinds import Kind, OperandError, Register
from macaw.isa.kinds import Named as NamedNumber
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.rows import Operand, PseudoOperand, Row

_MOST_LISTED = 12  # names that a hint lists

AnyOperand = Operand | PseudoOperand


@dataclass(slots=True)
class BoundOperands:
    """The operands of a statement: `nodes` has the expression for each operand of `row` by name.

    `extra` has the operands that the row does not have, such as `data=` of an exe.
    """

    row: Row
    nodes: dict[str, Node]
    extra: dict[str, Node] = field(default_factory=dict)  # operands that the row does not have

    def operand(self, name: str) -> AnyOperand:
        """Return the row's operand of that name."""
        return next(operand for operand in self.row.operands if operand.name == name)


def without_brackets(statement: Statement) -> Statement:
    """Return a statement as `name a, b` if the source writes it as a call, `name(a, b)`."""
    match statement.operands:
        case (Group(items=items),):
            return replace(statement, operands=items)
    return statement


def forms(rows: Iterable[Row], extra: Iterable[str] = ()) -> str:
    """Return the syntaxes of a mnemonic's rows as a hint.

    `extra` are the names of operands that the core's part adds.
    """
    more = "".join(f", {name}=" for name in extra)
    return "write " + " or ".join(codec.syntax(row) + more for row in rows)


def choose(rows: Sequence[Row], statement: Statement) -> Row:
    """Return the row that fits the statement's operands best; `rows` are the mnemonic's rows.

    Raises `Mistake` if no row takes this number of operands. If there is only one row, or if an
    operand has a name, the function does not check the number. `bind` finds this and other mistakes
    in the operands.
    """
    if len(rows) == 1:
        return rows[0]
    names = {item.name.text for item in statement.operands if isinstance(item, Named)}
    if names:
        fitting = [row for row in rows if names <= {operand.name for operand in row.operands}]
        rows = fitting or rows
        for row in rows:
            if len(statement.operands) == sum(not operand.inside for operand in row.operands):
                return row
        return rows[0]
    row, fits = codec.select(rows, [_written(item) for item in statement.operands])
    if not fits and len(statement.operands) not in _counts(rows):
        raise _wrong_count(rows, statement)
    return row


def _counts(rows: Iterable[Row]) -> Collection[int]:
    return {sum(not operand.inside for operand in row.operands) for row in rows}


def _wrong_count(rows: Sequence[Row], statement: Statement, extra: Iterable[str] = ()) -> Mistake:
    assert statement.head is not None
    count = len(statement.operands)
    return Mistake(
        f"{statement.head.text} does not take {count or 'no'} operand{'s' * (count != 1)}",
        (statement.head.start, statement.end),
        forms(rows, extra),
    )


def _written(node: Node) -> tuple[str, str | None]:
    """Return an operand for `codec.select`: its text, and the text in brackets after it or None."""
    if isinstance(node, Inside):
        return _word(node.outer), _word(node.inner)
    if isinstance(node, Group) and len(node.items) == 1 and isinstance(node.items[0], Name):
        return "", node.items[0].text
    return _word(node), None


def _word(node: Node) -> str:
    """Return the text of a word or a number; empty for an expression."""
    if isinstance(node, Name):
        return node.text
    return str(node.value) if isinstance(node, Number) else ""


def bind(
    row: Row,
    statement: Statement,
    extra: Sequence[str] = (),
    positional: Sequence[str] = (),
) -> BoundOperands:
    """Assign each operand of a statement to an operand of `row`. Raises `Mistake`.

    `row` is the table row of the statement's instruction. `extra` are the names of operands that
    the row does not have and that the core's part evaluates. If such a name is in `positional`, a
    source may omit the name and write the value after the operands of the row.
    """
    head = statement.head
    assert head is not None
    operands = {operand.name: operand for operand in row.operands}
    bound = BoundOperands(row, {})
    waiting = [x for x in row.operands if not x.inside and not x.kind.optional]
    more = list(positional)
    for item in statement.operands:
        if isinstance(item, Named):
            _bind_named(bound, item, operands, extra, head.text)
            continue
        flag = _flag(row, item)
        if flag:
            _give(bound, flag, item)
            continue
        while waiting and waiting[0].name in bound.nodes:
            waiting.pop(0)
        if waiting:
            _place(bound, waiting.pop(0), item)
        elif more and isinstance(item, Name | Indexed | Phrase):
            bound.extra.setdefault(more.pop(0), item)
        else:
            raise _surplus(row, statement, item, extra)
    for operand in row.operands:
        if operand.name not in bound.nodes and operand.default is None:
            raise Mistake(
                f"{head.text} needs the operand {operand.name}",
                (head.start, statement.end),
                forms([row], extra),
            )
    return bound


def _bind_named(
    bound: BoundOperands,
    item: Named,
    operands: Mapping[str, AnyOperand],
    extra: Sequence[str],
    mnemonic: str,
) -> None:
    """Enter `item`, an operand that is written as `name=value`, into `bound`. Raises `Mistake`.

    `operands` are the operands of the table row by name; `extra` are the names of further operands.
    """
    name = item.name.text
    if name in extra:
        if name in bound.extra:
            raise Mistake(f"the operand {name} is given twice", item)
        bound.extra[name] = item.value
    elif name in operands:
        _give(bound, operands[name], item.value)
    else:
        raise Mistake(
            f"{mnemonic} has no operand '{name}'",
            item.name,
            did_you_mean(name, [*operands, *extra]) or forms([bound.row], extra),
        )


def _place(bound: BoundOperands, operand: AnyOperand, node: Node) -> None:
    """Enter `node` into `bound` as the value of `operand`.

    For `outer(inner)`, also enter the operand in brackets. Raises `Mistake`.
    """
    base = next((x for x in bound.row.operands if x.inside == operand.name), None)
    if base is None:
        if isinstance(node, Inside):
            raise Mistake("there are no brackets in this operand", node, forms([bound.row]))
        _give(bound, operand, node)
    elif isinstance(node, Inside):
        _give(bound, operand, node.outer)
        _give(bound, base, node.inner)
    elif isinstance(node, Group) and len(node.items) == 1:
        _give(bound, base, node.items[0])
    else:
        _give(bound, operand, node)


def _give(bound: BoundOperands, operand: AnyOperand, node: Node) -> None:
    if operand.name in bound.nodes:
        raise Mistake(f"the operand {operand.name} is given twice", node)
    bound.nodes[operand.name] = node


def _flag_words(row: Row | None) -> list[str]:
    operands: Sequence[AnyOperand] = row.operands if row is not None else ()
    return [word for item in operands if item.kind.optional for word in item.kind.words()]


def _flag(row: Row, item: Node) -> AnyOperand | None:
    if isinstance(item, Name):
        for operand in row.operands:
            if operand.kind.optional and operand.kind.parse(item.text) is not None:
                return operand
    return None


def _surplus(row: Row, statement: Statement, item: Node, extra: Iterable[str]) -> Mistake:
    flags = _flag_words(row)
    if flags and isinstance(item, Name):
        assert statement.head is not None
        return Mistake(
            f"{statement.head.text} has no flag '{item.text}'",
            item,
            did_you_mean(item.text, flags) or forms([row], extra),
        )
    return _wrong_count([row], statement, extra)


def known_word(kind: Kind, node: Node) -> int | None:
    """Return the value of `node` if it is a fixed word of `kind`; None for any other node."""
    if isinstance(node, Name):
        return kind.parse(node.text)
    if isinstance(node, Number) and kind.by_name:
        return kind.parse(str(node.value))
    return None


def unknown_word(name: str, kind: Kind, node: Node) -> Mistake:
    """Return the error for the operand `name` if its value `node` is no fixed word of `kind`."""
    text = _word(node)
    # For a number, no similar word is suggested.
    hint = kind.hint(text) or ("" if text.isdigit() else did_you_mean(text, kind.words()))
    if not text:
        return Mistake(f"{name}: an expression cannot be written here", node, kind.describe())
    if isinstance(kind, Register):
        hint = kind.hint(text) or numbered_names(text, kind.words()) or hint or kind.describe()
        return Mistake(f"'{text}' is no {kind.file}", node, hint)
    return Mistake(f"{name}: '{text}' is not {kind.describe()}", node, hint)


def _unknown_name(kind: NamedNumber, node: Name) -> Mistake:
    """Return the error for a name that `kind` does not have."""
    words = kind.words()
    listed = ", ".join(words if len(words) <= _MOST_LISTED else (*words[:_MOST_LISTED], "..."))
    same_letter = [word for word in words if word[:1] == node.text[:1].lower()]
    hint = did_you_mean(node.text, same_letter) or f"there are {listed}; any other by its number"
    return Mistake(f"no {kind.noun} is called '{node.text}'", node, hint)


def check(name: str, kind: Kind, value: int, node: Node) -> int:
    """Return the number that the field of the operand `name` stores for `value`.

    As in GNU as, a signed field also accepts a 32-bit number that is written as unsigned. Raises
    `Mistake` with the legal range.
    """
    try:
        kind.check(value)
    except OperandError as error:
        if not kind.relative and 1 << 31 <= value < 1 << 32:
            try:
                kind.check(value - (1 << 32))
            except OperandError:
                pass
            else:
                return value - (1 << 32)
        what = "the distance " if kind.relative else ""
        raise Mistake(f"{name}: {what}{error}", node) from None
    return value


def value_of(operand: AnyOperand, node: Node, context: Context, row: Row | None = None) -> int:
    """Return the value of the field of `operand` for the expression `node`. Raises `Mistake`.

    Raises `NotYet` if the value is known only after the layout. With `row`, the hint for an unknown
    word may also suggest a flag of that row.
    """
    kind = operand.kind
    word = known_word(kind, node)
    if word is not None:
        return word
    if kind.by_name:
        raise unknown_word(operand.name, kind, node)
    try:
        value = evaluate(node, context)
    except Mistake as mistake:
        word_node = node.inner if isinstance(node, Checked) else node
        if isinstance(word_node, Name) and isinstance(kind, NamedNumber) and kind.noun:
            raise _unknown_name(kind, word_node) from None
        if isinstance(node, Name) and not mistake.hint:
            mistake.hint = did_you_mean(node.text, [*kind.words(), *_flag_words(row)])
        raise
    if kind.relative:
        here = context.here()
        if isinstance(value, Address) and isinstance(here, Address) and value.area is here.area:
            if context.may_change(node):
                raise not_placed(node, value)
            value = value.offset - here.offset
        elif isinstance(value, int) and isinstance(here, int):
            if not -(1 << 31) <= value < 1 << 32:
                raise Mistake(f"{operand.name}: {value} is no address of 32 bits", node)
            # Addresses have 32 bits, so that a distance may wrap around.
            value = (value - here + (1 << 31)) % (1 << 32) - (1 << 31)
        else:
            raise not_placed(node, value)
    if isinstance(value, Address):
        raise not_placed(node, value)
    return check(operand.name, kind, value, node)
