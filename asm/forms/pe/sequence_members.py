"""Evaluates the members of a sequence's header and records, from `.seq` and the lines after it."""

from __future__ import annotations

from collections.abc import Mapping

from macaw.asm.expressions import number
from macaw.asm.operands import check, known_word, unknown_word
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import AlreadyReported, Indexed, Mistake, Name, Node, Phrase, Slice
from macaw.isa.kinds import Kind
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import SEQUENCE, TYPES

MEMBERS = {member.name: member for member in (*TYPES.members, *SEQUENCE.members)}


@dataclass(frozen=True, slots=True)
class MemberValue:
    """The value of a member of a record, before its evaluation: an expression and its context."""

    context: StatementContext
    node: Node

    def value(self, name: str, kind: Kind) -> int:
        """Return the value, which must be legal for `kind`; messages call the member `name`.

        Raises `Mistake`; raises `NotYet` if the value is known only after the layout.
        """
        word = known_word(kind, self.node)
        if word is not None:
            return word
        if kind.by_name:
            raise unknown_word(name, kind, self.node)
        return check(name, kind, number(self.node, self.context), self.node)

    def checked(self, name: str, kind: Kind) -> int:
        """Return the value for another line, which must not report its error once more.

        Raises `AlreadyReported` for a value that is not legal.
        """
        try:
            return self.value(name, kind)
        except Mistake:
            raise AlreadyReported from None


def check_words(members: Mapping[str, MemberValue]) -> None:
    """Raise `Mistake` for a member whose value is an unknown word."""
    for name, value in members.items():
        kind = MEMBERS[name].legal
        if kind.by_name:
            value.value(name, kind)


def numbers(members: Mapping[str, MemberValue]) -> dict[str, int]:
    """Return the values of members by name. Report each wrong value at the line that gives it."""
    values = {}
    for name, value in members.items():
        with value.context.state.report.catching(value.context.line):
            values[name] = value.value(name, MEMBERS[name].legal)
    return values


def written_target(context: StatementContext, target: Node) -> tuple[str, int | None, str]:
    """Return (mnemonic, number, operand) for a target such as `mac[1].base`.

    For `mac.base` the number is None. Raises `Mistake`.
    """
    match target:
        case Name(text=text) if "." in text[1:]:
            mnemonic, _, operand = text.rpartition(".")
            return mnemonic, None, operand
        case Phrase(
            words=(Indexed(base=Name(text=mnemonic), subscripts=(index,)), Name(text=rest))
        ):
            if rest.startswith(".") and not isinstance(index, Slice):
                return mnemonic, number(index, context), rest[1:]
    raise Mistake(
        "an operand of an instruction is needed here", target, "as in mac.base or mac[1].base"
    )
