"""pe: packet lists, instruction sequences and data, the image of a row's memory unit.

Wherever a statement stands, its bytes go to one of four areas that follow one
another in the image: packet lists, sequences, data, places of tensors.

Beyond the rows: `config ib=0, SEQUENCE`, `exe ..., data=(SEGMENT, ...), out=...`,
and for both `to=all`, `to=1` or `to=(0, 1)`, the clusters. A segment is a symbol or
a part of one, `w[0]`, `x[2:4]`, with words beside it where its declaration does not
say them: what it holds (weights, activations, psums), who gets it (broadcast,
sliced, by_cluster, by_pe), and compress. `unit[0x40:0x60]` is any run of bytes of
the unit's half. `out=(y[0], stride=4, step=4, count=1, pes=8, type=int32)`: what is
left out comes from the symbol and from the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from macaw.asm.directives import Directive, table, wrong_operands
from macaw.asm.expressions import Address
from macaw.asm.forms import Form, Startup
from macaw.asm.forms.pe.lists import Lists
from macaw.asm.forms.pe.packets import Configured, Exe, place_config, place_marker
from macaw.asm.forms.pe.segments import UNIT as UNIT_WORD
from macaw.asm.forms.pe.sequences import OpenSequence
from macaw.asm.forms.pe.sparse import SHARED as SHARED
from macaw.asm.forms.pe.tensors import Tensors
from macaw.asm.layout import UNIT, Area, Plan
from macaw.asm.program import tensor_section
from macaw.asm.site import Site
from macaw.asm.symbols import Definition
from macaw.asm.syntax import Again, Mistake, Statement
from macaw.isa import memory_map
from macaw.isa.config import Configuration
from macaw.isa.model import Core
from macaw.isa.pe import CORE, DATA_ALIGN, PACKET_ALIGN, SEQUENCE_ALIGN, SLOT_ALIGN
from macaw.isa.rows import Instruction, Row


class CoreForm(Form):
    """A row of the PE array."""

    def __post_init__(self) -> None:
        name = self.core.section.format(self.index)
        assert self.index is not None
        self.base = _base(self.index)
        self.home = tensor_section(_home(self.index))  # of tensors in this row's unit
        self.lists = Lists(self, Area(name, align=PACKET_ALIGN))
        self.sequences = Area(name, align=SEQUENCE_ALIGN)
        self.data = Area(name, align=DATA_ALIGN)
        self.tensors = Tensors(self, Area(name, zeros=True, align=SLOT_ALIGN))
        areas = [self.lists.area, self.sequences, self.data, self.tensors.area]
        self._plan = self.assembly.layout.plan(
            Plan(
                name,
                UNIT,
                "a",
                areas,
                self.core.name,
                self.index,
                self.base,
                self.assembly.config["mem.unit_half_bytes"],
            )
        )
        self.directives = table(
            [
                Directive(
                    row.name,
                    row.syntax,
                    row.meaning,
                    _CODE[row.name],
                    row.name in _DEFINING,
                    row.example,
                )
                for row in CORE.directives
            ]
        )
        self.sequence: OpenSequence | None = None  # between .seq and .endseq
        self.known_sequences: dict[tuple[int, int], OpenSequence] = {}  # by area and offset
        self.exes: list[Exe] = []
        self.configured = Configured()  # by the packets so far

    def may_write(self, tensor: Definition) -> bool:
        return any(exe.may_write(tensor) for exe in self.exes)

    # --- areas ---

    @classmethod
    def homes(cls, core: Core, config: Configuration) -> Mapping[str, Plan]:
        """`at=unitR`: behind the image of row R, at the addresses of half 0."""
        limit = config["mem.unit_half_bytes"]
        found = {}
        for row in range(config[f"{core.name}.{core.index}s"]):
            name = tensor_section(_home(row))
            areas = [Area(name, zeros=True, align=SLOT_ALIGN)]
            behind = core.section.format(row)
            found[_home(row)] = Plan(
                name, UNIT, "aw", areas, address=_base(row), limit=limit, behind=behind
            )
        return found

    def plan(self) -> Plan:
        return self._plan

    def area(self) -> Area:
        return self.data if self.lists.line is None else self.lists.area

    def section(self, name: str) -> Area | None:
        if name in (".text", self._plan.name):
            return self.area()
        return self.assembly.parts.common_section(name)

    def binds_now(self, area: Area) -> bool:
        return area not in self._plan.areas

    # --- statements ---

    def instruction(self, site: Site, statement: Statement, rows: Sequence[Row]) -> None:
        row = rows[0]
        assert isinstance(row, Instruction)
        assert statement.head is not None
        if row.family == "sequence":
            if self.sequence is None:
                hint = "it stands between .seq and .endseq"
                raise Mistake(f"{row.mnemonic} stands outside of a sequence", statement.head, hint)
            self.sequence.add(site, statement, row)
            return
        if self.sequence is not None:
            hint = f"end the sequence '{self.sequence.name}' with .endseq before it"
            raise Mistake(f"{row.mnemonic} stands inside of a sequence", statement.head, hint)
        self.lists.begin_packet(site, statement.head)
        here = site.moved(self.lists.area)
        here.align(PACKET_ALIGN)
        here = here.moved()
        here.mark()
        _PACKETS[row.mnemonic](self, here, statement, row)
        self.watch_groups(site, statement)

    def begin_sequence(self, site: Site, statement: Statement) -> None:
        """`.seq NAME, ...`."""
        before = self.sequence
        self.sequence = OpenSequence(self, site)
        if before is not None:
            self.assembly.report.mistake(before.site.line, before.unfinished())
        self.sequence.begin(statement)

    def sequence_of(self, definition: Definition) -> OpenSequence | None:
        """The sequence of this part that stands at a symbol."""
        value = definition.value
        if not isinstance(value, Address):
            return None
        return self.known_sequences.get((id(value.area), value.offset))

    def in_sequence(self, statement: Statement) -> OpenSequence:
        """The open sequence. Raises `Mistake` if there is none."""
        assert statement.head is not None
        if self.sequence is None:
            raise Mistake(f"{statement.head.text} stands outside of a sequence", statement.head)
        return self.sequence

    def end_sequence(self, site: Site, statement: Statement) -> None:
        """`.endseq`."""
        sequence = self.in_sequence(statement)
        self.sequence = None
        sequence.finish(site, statement)
        if statement.operands:
            raise wrong_operands(statement, ".endseq")

    def failed(self) -> None:
        if self.sequence is not None:
            self.sequence.spoiled = True

    # --- the end ---

    def leave(self) -> None:
        if self.sequence is not None:
            self.assembly.report.mistake(self.sequence.site.line, self.sequence.unfinished())
            self.sequence = None
        self.lists.leave()

    def finish(self) -> None:
        self.lists.finish()
        self.tensors.give_slots()

    def slot(self, definition: Definition) -> int | None:
        return self.tensors.slot(definition)

    def startup(self) -> Startup:
        assert self.index is not None
        row = 1 << self.index
        loads, stores = self.tensors.copies()
        waits = 1 << (self.core.number + self.index) if self.lists.starts else 0
        return Startup(loads, row if loads else 0, self.lists.dispatches(row), (), waits, stores)


def _home(row: int) -> str:
    """What `at=` says of a row's memory unit."""
    return f"{UNIT_WORD}{row}"


def _base(row: int) -> int:
    """The address of half 0 of a row's memory unit."""
    return memory_map.UNITS + (row << memory_map.UNIT_SHIFT)


def _exe(form: CoreForm, site: Site, statement: Statement, row: Instruction) -> None:
    form.exes.append(Exe(form, site, statement, row))


# What puts the packet of each command.
_PACKETS: dict[str, Callable[[CoreForm, Site, Statement, Instruction], None]] = {
    "config": place_config,
    "exe": _exe,
    "trace_begin": place_marker,
    "trace_end": place_marker,
}


def _form(site: Site) -> CoreForm:
    form = site.assembly.parts.form
    if not isinstance(form, CoreForm):
        raise Again
    return form


def _option(site: Site, statement: Statement) -> None:
    _form(site).in_sequence(statement).option(site, statement)


def _list(site: Site, statement: Statement) -> None:
    _form(site).lists.begin(site, statement)


def _endlist(site: Site, statement: Statement) -> None:
    _form(site).lists.end(site, statement)


def _seq(site: Site, statement: Statement) -> None:
    _form(site).begin_sequence(site, statement)


def _endseq(site: Site, statement: Statement) -> None:
    _form(site).end_sequence(site, statement)


# The code of the directives in the table; the first two define their first operand.
_CODE = {
    ".seq": _seq,
    ".list": _list,
    ".loop": _option,
    ".step": _option,
    ".stride": _option,
    ".then": _option,
    ".endseq": _endseq,
    ".endlist": _endlist,
}
_DEFINING = (".seq", ".list")
