"""Packet lists: `.list`, `.endlist`, and the single list of a part that has no `.list` line."""

from __future__ import annotations

from macaw.asm.directive import wrong_operands
from macaw.asm.forms.pe.image import RowImage
from macaw.asm.source import LogicalLine
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Datum, Definition
from macaw.asm.syntax import Mistake, Name, Statement
from macaw.isa.pe import END_OF_LIST, PACKET_ALIGN


class Lists:
    """The packet lists of a row's part.

    The attribute `line` is the `.list` line of the open list, or None.
    """

    def __init__(self, image: RowImage, line: LogicalLine) -> None:
        """Create the lists of the part that begins with the `.core` line `line`."""
        self._image, self._state, self._area = image, image.state, image.lists
        self._part_line = line
        self.line: LogicalLine | None = None  # the line of the open .list
        self.starts: list[int] = []
        self._open: Definition | None = None
        self._loose = False  # the part has packets outside of lists

    def begin_packet(self, context: StatementContext, head: Name) -> None:
        """Prepare for a packet. If the part has no `.list` lines, begin its single list.

        `head` is the packet's first word. If the part has `.list` lines, raise `Mistake` for a
        packet outside of a list.
        """
        if self.line is not None:
            return
        if self.starts and not self._loose:
            hint = "this part has lists; .list begins one"
            raise Mistake(f"{head.text} is outside of a list", head, hint)
        if not self._loose:
            self._loose = True
            self.starts.append(0)
            name = Name(head.start, head.end, f"_list.{self._image.index}")
            self._label(context, name)

    def _label(self, context: StatementContext, name: Name) -> None:
        self._open = context.at_end(self._area).new_label(name)
        self._open.is_used = True

    def begin(self, context: StatementContext, statement: Statement) -> None:
        """Carry out `.list NAME`, which begins a packet list. Raises `Mistake`."""
        if len(statement.operands) != 1 or not isinstance(statement.operands[0], Name):
            self._opens(context.line)
            raise wrong_operands(statement, ".list NAME")
        name = statement.operands[0]
        before, closed = self.line, not self._loose
        self._opens(context.line)
        here = context.at_end(self._area)
        here.align(PACKET_ALIGN)
        self.starts.append(self._area.size)
        if not closed:
            hint = "put all packets into lists, or none"
            raise Mistake("packets are before the first list", name, hint)
        if before is not None:
            self._unfinished(before)
        self._label(context, name)

    def _opens(self, line: LogicalLine) -> None:
        self.line = line
        self._state.area = self._area

    def _unfinished(self, line: LogicalLine) -> None:
        mistake = Mistake("a list without its .endlist", (-1, -1))
        self._state.report.mistake(line, mistake)

    def end(self, context: StatementContext, statement: Statement) -> None:
        """Carry out `.endlist`, which ends the open packet list. Raises `Mistake`."""
        assert statement.head is not None
        if self.line is None:
            raise Mistake(".endlist without .list", statement.head)
        self._close(context)
        if statement.operands:
            raise wrong_operands(statement, ".endlist")

    def _close(self, context: StatementContext) -> None:
        here = context.at_end(self._area)
        here.align(PACKET_ALIGN)
        here.emit(bytes([END_OF_LIST]))
        if self._open is not None:
            self._open.size = self._area.size - self.starts[-1]
            self._open.datum = Datum("list", self._open.size)
        self.line = self._open = None
        self._state.area = self._image.data

    def leave(self) -> None:
        """Report and close a list that is still open when the source enters another part."""
        if self.line is not None:
            line = self.line
            self._unfinished(line)
            self._close(StatementContext.current(self._state, line))

    def finish(self) -> None:
        """Close the part's single list after all sources are read."""
        if self._loose:
            self._close(StatementContext.current(self._state, self._part_line))

    def dispatches(self, row: int) -> list[tuple[int, int]]:
        """Return (`row`, address) of each packet list, for the default program to dispatch.

        `row` is a mask of rows in which only the bit of this part's row is set.
        """
        assert self._area.base is not None
        return [(row, self._area.base + start) for start in self.starts]
