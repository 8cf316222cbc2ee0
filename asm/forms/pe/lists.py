"""Packet lists: `.list`, `.endlist`, and the one list of a part that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.asm.directives import wrong_operands
from macaw.asm.layout import Area
from macaw.asm.site import Site
from macaw.asm.source import LogicalLine
from macaw.asm.symbols import Datum, Definition
from macaw.asm.syntax import Mistake, Name, Statement
from macaw.isa.pe import END_OF_LIST, PACKET_ALIGN

if TYPE_CHECKING:
    from macaw.asm.forms.pe import CoreForm


class Lists:
    """The packet lists of a row's part, in `area`."""

    def __init__(self, form: CoreForm, area: Area) -> None:
        self.form, self.area = form, area
        self.line: LogicalLine | None = None  # of the .list that is open
        self.starts: list[int] = []
        self._open: Definition | None = None
        self._loose = False  # packets stand outside of lists

    def begin_packet(self, site: Site, head: Name) -> None:
        """Let a packet stand in the open list, or in the one list of the part. Raises `Mistake`."""
        if self.line is not None:
            return
        if self.starts and not self._loose:
            hint = "this part has lists; .list begins one"
            raise Mistake(f"{head.text} stands outside of a list", head, hint)
        if not self._loose:
            self._loose = True
            self.starts.append(0)
            name = Name(head.start, head.end, f"_list.{self.form.index}")
            self._label(site, name)

    def _label(self, site: Site, name: Name) -> None:
        self._open = self.form.assembly.names.label_here(site, name, self.area)
        self._open.used = True

    def begin(self, site: Site, statement: Statement) -> None:
        """`.list NAME`. Raises `Mistake`."""
        if len(statement.operands) != 1 or not isinstance(statement.operands[0], Name):
            self._opens(site.line)
            raise wrong_operands(statement, ".list NAME")
        name = statement.operands[0]
        before, closed = self.line, not self._loose
        self._opens(site.line)
        here = site.moved(self.area)
        here.align(PACKET_ALIGN)
        self.starts.append(self.area.size)
        if not closed:
            hint = "every packet, or none, stands in a list"
            raise Mistake("packets stand before the first list", name, hint)
        if before is not None:
            self._unfinished(before)
        self._label(site, name)

    def _opens(self, line: LogicalLine) -> None:
        self.line = line
        self.form.assembly.parts.area = self.area

    def _unfinished(self, line: LogicalLine) -> None:
        mistake = Mistake("a list without its .endlist", (-1, -1))
        self.form.assembly.report.mistake(line, mistake)

    def end(self, site: Site, statement: Statement) -> None:
        """`.endlist`. Raises `Mistake`."""
        assert statement.head is not None
        if self.line is None:
            raise Mistake(".endlist without .list", statement.head)
        self._close(site)
        if statement.operands:
            raise wrong_operands(statement, ".endlist")

    def _close(self, site: Site) -> None:
        here = site.moved(self.area)
        here.align(PACKET_ALIGN)
        here.emit(bytes([END_OF_LIST]))
        if self._open is not None:
            self._open.size = self.area.size - self.starts[-1]
            self._open.datum = Datum("list", self._open.size)
        self.line = self._open = None
        self.form.assembly.parts.area = self.form.data

    def leave(self) -> None:
        """The part is left for another one: no list goes on behind that."""
        if self.line is not None:
            line = self.line
            self._unfinished(line)
            self._close(self.form.assembly.site(line))

    def finish(self) -> None:
        """All sources are read."""
        if self._loose:
            self._close(self.form.assembly.site(self.form.line))

    def dispatches(self, row: int) -> list[tuple[int, int]]:
        """Mask of rows and offset in the image of each list, for the start of a program."""
        assert self.area.base is not None
        return [(row, self.area.base + start) for start in self.starts]
