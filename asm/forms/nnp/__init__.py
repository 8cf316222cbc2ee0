"""nnp: instructions whose chains are held to their rules, and hints about tensors."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from macaw.asm.forms import Form
from macaw.asm.forms.nnp import hints
from macaw.asm.source import LogicalLine, SourceText
from macaw.asm.syntax import Mistake
from macaw.isa.nnp_walk import broken

if TYPE_CHECKING:
    from macaw.asm.site import Site
    from macaw.asm.syntax import Statement

_WORD = 4  # bytes of an instruction
_END = re.compile(r"[;\r\n#]|//|/\*")  # of a statement of this core: strings have no place in it


@dataclass
class CoreForm(Form):
    """A part of nnp. Words that stand as data are held to no rule."""

    missing: set[int] = field(default_factory=set)  # where a wrong statement has left no word

    def failed(self) -> None:
        self.missing.add(self.area().size)

    def hint(self, site: Site, statement: Statement) -> None:
        hints.take(site, statement)

    def finish(self) -> None:
        """Have the rules asked when every word is known."""
        if self.area().size:
            self.assembly.fix(self.assembly.site(self.line), 0, 0, self._hold_to_rules)

    def _hold_to_rules(self) -> bytes:
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
        for found in broken(words, self.assembly.config):
            source, place = places[offsets[found.at]]
            end = _END.search(source.text, place)
            line = LogicalLine(source, place, source.text[place : end.start() if end else None])
            hint = f"rule {found.error.rule}: {found.error.meaning}"
            self.assembly.report.mistake(line, Mistake(str(found.error), (-1, -1), hint))
        return b""

    def _places(self) -> dict[int, tuple[SourceText, int]]:
        """Text and place of the instruction at each offset that has one."""
        return {
            offset: (source, place)
            for area, source, offsets, places in self.assembly.marks.runs()
            if area is self.area()
            for offset, place in zip(offsets, places, strict=True)
            if not source.text.startswith(".", place)
        }
