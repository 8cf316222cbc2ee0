"""The parts of nnp: the assembler checks chains of instructions and evaluates tensor hints."""

from __future__ import annotations

from dataclasses import field

from macaw.asm.core_part import CorePart
from macaw.asm.forms.nnp import hints
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Mistake, Statement
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.lazy_pattern import lazy_pattern
from macaw.isa.nnp_walk import broken

_WORD = 4  # bytes of an instruction
_END = lazy_pattern(r"[;\r\n#]|//|/\*")  # end of a statement; this core has no strings


@dataclass
class NnpPart(CorePart):
    """A part of nnp. Words that the source writes as data are not checked against the rules.

    `missing` has the offsets at which the part lacks an instruction because its line has an error.
    """

    reads_expansions = True  # each error of a chain names its expansion

    missing: set[int] = field(default_factory=set)  # offsets of words that an error left out

    def statement_failed(self) -> None:
        self.missing.add(self.area().size)

    def hint(self, context: StatementContext, statement: Statement) -> None:
        hints.take(context, statement)

    def finish(self) -> None:
        """Add a fixup that checks the chains after the layout, when all words are known."""
        if self.area().size:
            StatementContext.current(self.state, self.line).after_layout(self._check_rules)

    def _check_rules(self) -> None:
        places, words, offsets = self._places(), list[int | None](), []
        data = self.area().data
        for offset in range(0, len(data), _WORD):
            if offset in self.missing:
                words.append(None)
                offsets.append(offset)
            word = int.from_bytes(data[offset : offset + _WORD], "little")
            # None: an instruction with an error, or data other than 0, which no rule can check.
            words.append((word or None) if offset in places else None if word else 0)
            offsets.append(offset)
        if len(data) in self.missing:
            words.append(None)
        for breach in broken(words, self.state.config):
            source, place = places[offsets[breach.at]]
            end = _END.search(source.text, place)
            line = LogicalLine(source, place, source.text[place : end.start() if end else None])
            hint = f"rule {breach.error.rule}: {breach.error.meaning}"
            self.state.report.mistake(line, Mistake(str(breach.error), (-1, -1), hint))

    def _places(self) -> dict[int, tuple[SourceText, int]]:
        """Return (source, offset in the source) of each instruction, by its offset in the area."""
        return {
            offset: (source, place)
            for area, source, offsets, places in self.state.line_table.runs()
            if area is self.area()
            for offset, place in zip(offsets, places, strict=True)
            if not source.text.startswith(".", place)
        }


PART = NnpPart
