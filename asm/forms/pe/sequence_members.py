"""The members of a sequence's header and records, as `.seq` and the lines after it write them."""

from __future__ import annotations

from collections.abc import Mapping

from macaw.asm.expressions import number
from macaw.asm.operands import check, known_word, unknown_word
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Node
from macaw.isa.kinds import Kind
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import SEQUENCE, TYPES

MEMBERS = {member.name: member for member in (*TYPES.members, *SEQUENCE.members)}


@dataclass(frozen=True, slots=True)
class MemberValue:
    """An expression for a member of a record, and the context that evaluates it."""

    context: StatementContext
    node: Node

    def value(self, name: str, kind: Kind) -> int:
        """Return the value of the member `name`.

        Raises `Mistake`, and before the layout `NotYet`.
        """
        word = known_word(kind, self.node)
        if word is not None:
            return word
        if kind.by_name:
            raise unknown_word(name, kind, self.node)
        return check(name, kind, number(self.node, self.context), self.node)


def check_words(members: Mapping[str, MemberValue]) -> None:
    """Raise `Mistake` for a member whose value is a word that its kind does not have."""
    for name, value in members.items():
        kind = MEMBERS[name].legal
        if kind.by_name:
            value.value(name, kind)


def numbers(members: Mapping[str, MemberValue]) -> dict[str, int]:
    """Return the values of members; report each wrong value at its own line."""
    values = {}
    for name, value in members.items():
        with value.context.state.report.catching(value.context.line):
            values[name] = value.value(name, MEMBERS[name].legal)
    return values
