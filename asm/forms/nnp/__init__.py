"""nnp: instructions whose chains are held to their rules, and hints about tensors."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from macaw.asm.core_part import CorePart
from macaw.asm.forms.nnp import hints
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Mistake, Statement
from macaw.isa.nnp_walk import broken

_WORD = 4  # bytes of an instruction
_END = re.compile(r"[;\r\n#]|//|/\*")  # of a statement of this core: strings have no place in it


@dataclass
class CoreForm(CorePart):
    """A part of nnp. Words that stand as data are held to no rule."""

    missing: set[int] = field(default_factory=set)  # where a wrong statement has left no word

    def statement_failed(self) -> None:
        self.missing.add(self.area().size)

    def hint(self, context: StatementContext, statement: Statement) -> None:
        hints.take(context, statement)

    def finish(self) -> None:
        """Have the rules asked when every word is known."""
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
            # An instruction without a word has its error; of data only a 0 means something.
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
        """Text and place of the instruction at each offset that has one."""
        return {
            offset: (source, place)
            for area, source, offsets, places in self.state.line_table.runs()
            if area is self.area()
            for offset, place in zip(offsets, places, strict=True)
            if not source.text.startswith(".", place)
        }
