"""Completes the words and numbers of simple lines that need an address from the layout.

Simple lines are those that the assembler encodes without its parser (`asm/fast_path.py`).
"""

from __future__ import annotations

import re

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.core_part import CorePart
from macaw.asm.data_directives import NUMBER_SIZES, late_number
from macaw.asm.expressions import Address
from macaw.asm.instructions import words_after_layout
from macaw.asm.label_references import Item, LocalReference
from macaw.asm.layout import Area
from macaw.asm.operand_encoder import LANE, WORD_BYTES, OperandEncoder
from macaw.asm.parser import parse
from macaw.asm.simple_statement import NAME
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Scope
from macaw.isa.lazy_pattern import lazy_pattern

# `NAME` does not match words such as `.4byte`, which begin like a number (`.4`).
_DIRECTIVE = "|".join(re.escape(name) for name in NUMBER_SIZES if name[1].isdigit())
# Label, first word and what follows it, of a whole line. The last alternative is any other line.
LINE = lazy_pattern(
    # Without backtracking, which would read a long line again for each try.
    rf"[ \t]*+(?:((?>{NAME})|0|[1-9][0-9]{{0,8}}):[ \t]*+)?"
    rf"(?:((?>{NAME})|(?:{_DIRECTIVE})(?![A-Za-z0-9_.$]))[ \t]*+)?([^\"'#/;\r\n]*+)"
    r"(?:(?:#|//)[^\n]*)?(?:\r?\n|\Z)|"
)


_WATCHED = 64  # references between two calls of `watch`


def statement_start(match: re.Match[str]) -> int:
    """Return the source offset at which the label or statement begins, in a match of `LINE`."""
    return match.start(1) if match[1] is not None else match.start(2)


def logical_line(source: SourceText, match: re.Match[str]) -> LogicalLine:
    """Return the line that `LINE` has matched, from its label on and without its comment."""
    start = statement_start(match)
    return LogicalLine(source, start, source.text[start : match.end(3)].rstrip(" \t"))


class DeferredFixups:
    """The words and numbers of one area that wait for the address of a symbol.

    The layout decides the address. Each entry of `items` is for one word or number.
    """

    __slots__ = ("_area", "_part", "_scope", "_source", "_state", "items")

    def __init__(
        self,
        state: AssemblyState,
        source: SourceText,
        scope: Scope,
        area: Area,
        part: CorePart | None,
    ) -> None:
        self._state = state
        self._source = source
        self._scope = scope
        self._area = area
        self._part = part
        self.items: list[Item] = []

    def apply(self) -> None:
        """Write the final words and numbers into the area, after the layout."""
        area, report = self._area, self._state.report
        base, watch = area.base or 0, self._state.watch
        failed, content = report.failed, area.data
        addresses: dict[object, int | None] = {}  # of labels, by their names
        for number, item in enumerate(self.items):
            offset, known_bits, encoder_or_size, modifier, name, line_start = item
            if not number % _WATCHED:
                watch()
            if failed and report.has_failed_at(self._source, line_start):
                continue
            if name not in addresses:
                addresses[name] = self._address(name)
            address, data = addresses[name], None
            if address is None:
                pass
            elif isinstance(encoder_or_size, int):
                if address >> 8 * encoder_or_size == 0:
                    data = address.to_bytes(encoder_or_size, "little")
            else:
                start = base + offset
                bits = None if modifier else encoder_or_size.distances.get(address - start)
                if bits is None:
                    bits = encoder_or_size.bits_of_address(modifier, address, start)
                if bits is not None:
                    bits |= known_bits
                    words = 1 if bits < 1 << LANE else -(-bits.bit_length() // LANE)
                    data = bits.to_bytes(words * WORD_BYTES, "little")
            if data is None:
                ordinal = 0 if isinstance(name, str) else name.ordinal
                data = self._by_grammar(offset, known_bits, encoder_or_size, line_start, ordinal)
            content[offset : offset + len(data)] = data

    def _address(self, name: str | LocalReference) -> int | None:
        """Return the address of a label, which is then used; None if it has no known address."""
        scope, links = self._scope, self._state.linkage is not None
        symbol = scope.following(name) if isinstance(name, str) else scope.numbered_near(*name)
        if symbol is None or symbol.is_bad or (links and symbol.is_weak):
            return None
        value = symbol.value
        if not isinstance(value, Address) or not isinstance(value.area, Area):
            return None
        symbol.is_used = True
        return (value.area.base or 0) + value.offset

    def _by_grammar(
        self,
        offset: int,
        known_bits: int,
        encoder_or_size: OperandEncoder | int,
        line_start: int,
        ordinal: int,
    ) -> bytes:
        """Assemble a line again, now with the parser, and return the bytes of its statement.

        The caller does this if the line's symbol has no known address, or if the address does not
        fit its field. If the line has a mistake, report the mistake and return no bytes. The first
        four arguments are members of an `Item`. If the line's symbol is a local label, `ordinal` is
        the ordinal of the statement; otherwise it is 0.
        """
        match = LINE.match(self._source.text, self._source.start_of_line(line_start))
        assert match is not None
        line = logical_line(self._source, match)
        statement = parse(line.text)
        area = _LateArea(self._area.section, base=self._area.base)
        area.start = offset
        context = StatementContext(self._state, line, self._scope, ordinal, area, head=0)
        with self._state.report.catching(line):
            if isinstance(encoder_or_size, int):
                return late_number(context, statement.operands[known_bits], encoder_or_size)
            assert self._part is not None
            return words_after_layout(context, statement, self._part.core.rows)
        return b""


class _LateArea(Area):
    """A temporary area for the bytes of one statement that is assembled after the layout."""

    start = 0

    @property
    def size(self) -> int:
        return self.start + len(self.data)
