"""The parts of pe: packet lists, instruction sequences and data, which make the image of a row.

The image consists of four areas in this order: packet lists, sequences, data, slots. A slot
contains the copy of a tensor that is declared elsewhere. A statement appends to one of the first
three areas.

In addition to the table rows, a source may contain the packets `config ib=0, SEQUENCE,
data=(SEGMENT, ...)` and `exe ..., data=(SEGMENT, ...), out=...`. Their operand `to=all`, `to=1` or
`to=(0, 1)` chooses clusters.

A segment is a symbol or a part of one: `w[0]`, `x[2:4]`. Words before or after the symbol say what
the symbol's declaration does not say: the contents (weights, activations, psums, scales, table),
the receivers (broadcast, sliced, by_cluster, by_pe), the form of weights (records, compress, dense)
and the element type. `unit[0x40:0x60]` is a range of bytes of the unit's half.

The operand `out=(y[0], stride=4, step=4, count=1, pes=8, type=int32)` says where results go.
Options that the source omits follow from the symbol and the weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from macaw.asm.core_part import CorePart, Startup, common_area
from macaw.asm.directive import Directive, table, wrong_operands
from macaw.asm.forms.pe import image
from macaw.asm.forms.pe.image import RowImage
from macaw.asm.forms.pe.lists import Lists
from macaw.asm.forms.pe.packets import BufferContents, Config, Exe, place_marker
from macaw.asm.forms.pe.sequences import OpenSequence, SequenceTable
from macaw.asm.forms.pe.tensors import Tensors
from macaw.asm.layout import Area, SectionPlan
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Definition
from macaw.asm.syntax import Mistake, Statement
from macaw.isa.config import Configuration
from macaw.isa.model import Core
from macaw.isa.pe import CORE, PACKET_ALIGN
from macaw.isa.rows import Instruction, Row


class PePart(CorePart):
    """The part of one row of the PE array."""

    def __post_init__(self) -> None:
        assert self.index is not None
        self._image = RowImage(self.state, self.index)
        self._lists = Lists(self._image, self.line)
        self._exes: list[Exe] = []
        self._configs: list[Config] = []
        self.tensors = Tensors(self._image, self._exes, self._configs)
        self._open: OpenSequence | None = None  # between .seq and .endseq
        self._sequences = SequenceTable()
        self._buffers = BufferContents()  # the contents after the packets so far
        run = {
            ".seq": self._begin_sequence,
            ".list": self._lists.begin,
            ".loop": self._option,
            ".step": self._option,
            ".stride": self._option,
            ".types": self._option,
            ".then": self._option,
            ".endseq": self._end_sequence,
            ".endlist": self._lists.end,
        }
        self.directives = table(
            [
                Directive(
                    row.name,
                    row.syntax,
                    row.meaning,
                    run[row.name],
                    row.name in (".seq", ".list"),
                    row.example,
                )
                for row in CORE.directives
            ]
        )

    def may_write(self, tensor: Definition) -> bool:
        return any(exe.may_write(tensor) for exe in self._exes)

    # --- areas ---

    @classmethod
    def tensor_plans(cls, core: Core, config: Configuration) -> Mapping[str, SectionPlan]:
        """Return the sections for tensors in units, by their names for `at=` (`unit0`, ...).

        The section of row R follows the row's image, in half 0 of its unit.
        """
        return image.tensor_plans(config)

    def plan(self) -> SectionPlan:
        return self._image.plan

    def area(self) -> Area:
        return self._image.data if self._lists.line is None else self._image.lists

    def section(self, name: str) -> Area | None:
        if name in (".text", self._image.plan.name):
            return self.area()
        return common_area(self.state.layout, name)

    def places_labels(self, area: Area) -> bool:
        return area not in self._image.plan.areas

    # --- statements ---

    def instruction(
        self, context: StatementContext, statement: Statement, rows: Sequence[Row]
    ) -> None:
        row = rows[0]
        assert isinstance(row, Instruction)
        assert statement.head is not None
        if row.family == "sequence":
            if self._open is None:
                hint = "write it between .seq and .endseq"
                raise Mistake(f"{row.mnemonic} is outside of a sequence", statement.head, hint)
            self._open.add(context, statement, row)
            return
        if self._open is not None:
            hint = f"end the sequence '{self._open.name}' with .endseq before it"
            raise Mistake(f"{row.mnemonic} is inside of a sequence", statement.head, hint)
        self._lists.begin_packet(context, statement.head)
        here = context.at_end(self._image.lists)
        here.align(PACKET_ALIGN)
        here = here.at_end()
        here.mark()
        self._place_packet(here, statement, row)
        self.check_group(context, statement)

    def _place_packet(
        self, context: StatementContext, statement: Statement, row: Instruction
    ) -> None:
        if row.mnemonic == "config":
            config = Config(self._image, self._sequences, context, statement, row)
            self._buffers = config.contents_after(self._buffers)
            self._configs.append(config)
        elif row.mnemonic == "exe":
            self._exes.append(
                Exe(self._image, self._sequences, self._buffers, context, statement, row)
            )
        else:
            place_marker(self._image, context, statement, row)

    def _begin_sequence(self, context: StatementContext, statement: Statement) -> None:
        """Carry out `.seq NAME, ...`, which begins an instruction sequence."""
        before = self._open
        self._open = OpenSequence(self._image, context)
        if before is not None:
            self.state.report.mistake(before.context.line, before.unfinished())
        self._open.begin(statement)

    def _open_sequence(self, statement: Statement) -> OpenSequence:
        """Return the open sequence. Raises `Mistake` if none is open."""
        assert statement.head is not None
        if self._open is None:
            raise Mistake(f"{statement.head.text} is outside of a sequence", statement.head)
        return self._open

    def _option(self, context: StatementContext, statement: Statement) -> None:
        """Carry out `.loop`, `.types`, `.step`, `.stride` or `.then` for the open sequence."""
        self._open_sequence(statement).add_option(context, statement)

    def _end_sequence(self, context: StatementContext, statement: Statement) -> None:
        """Carry out `.endseq`, which ends the open sequence."""
        sequence = self._open_sequence(statement)
        self._open = None
        sequence.finish(context, statement, self._sequences)
        if statement.operands:
            raise wrong_operands(statement, ".endseq")

    def statement_failed(self) -> None:
        if self._open is not None:
            self._open.is_incomplete = True

    # --- the end ---

    def leave(self) -> None:
        if self._open is not None:
            self.state.report.mistake(self._open.context.line, self._open.unfinished())
            self._open = None
        self._lists.leave()

    def finish(self) -> None:
        self._lists.finish()
        self.tensors.give_slots()

    def startup(self, parts: Sequence[CorePart]) -> Startup:
        assert self.index is not None
        row = 1 << self.index
        rows = [part.tensors for part in parts if isinstance(part, PePart)]
        loads, stores = self.tensors.copies(rows)
        waits = 1 << (self.core.number + self.index) if self._lists.starts else 0
        return Startup(loads, row if loads else 0, self._lists.dispatches(row), (), waits, stores)


PART = PePart
