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

from asm.directives import Directive, table, wrong_operands
from asm.expressions import Address
from asm.forms import Form, Startup, Transfer
from asm.forms.pe.packets import Exe, place_config, place_marker
from asm.forms.pe.segments import UNIT as UNIT_WORD
from asm.forms.pe.sequences import OpenSequence
from asm.forms.pe.sparse import SHARED as SHARED
from asm.layout import UNIT, Area, Plan
from asm.output import address_of
from asm.program import tensor_section
from asm.site import Site
from asm.source import LogicalLine
from asm.symbols import Datum, Definition
from asm.syntax import Again, Mistake, Name, Statement
from isa import memory_map
from isa.config import Configuration
from isa.model import Core, Instruction, Row
from isa.pe import CORE, DATA_ALIGN, END_OF_LIST, PACKET_ALIGN, SEQUENCE_ALIGN, SLOT_ALIGN


class CoreForm(Form):
    """A row of the PE array."""

    def __post_init__(self) -> None:
        name = self.core.section.format(self.index)
        assert self.index is not None
        self.base = _base(self.index)
        self.home = tensor_section(_home(self.index))
        self.lists = Area(name, align=PACKET_ALIGN)
        self.sequences = Area(name, align=SEQUENCE_ALIGN)
        self.data = Area(name, align=DATA_ALIGN)
        self.slots = Area(name, zeros=True, align=SLOT_ALIGN)
        areas = [self.lists, self.sequences, self.data, self.slots]
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
        self.list_line: LogicalLine | None = None  # the .list that is open
        self.open_list: Definition | None = None
        self.list_starts: list[int] = []
        self.loose = False  # packets stand outside of lists
        self.exes: list[Exe] = []
        self.buffers: dict[int, Name] = {}  # the sequence that a config put there
        self.slot_offsets: dict[Definition, int] = {}

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

    def _is_home(self, found: Definition) -> bool:
        """Whether a tensor lies in this row's unit, and needs no copy there."""
        value = found.value
        return (
            isinstance(value, Address)
            and isinstance(value.area, Area)
            and value.area.section == self.home
        )

    def plan(self) -> Plan:
        return self._plan

    def area(self) -> Area:
        return self.lists if self.list_line is not None else self.data

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
        self._begin_packet(site, statement.head)
        here = site.moved(self.lists)
        here.align(PACKET_ALIGN)
        here = here.moved()
        here.mark()
        _PACKETS[row.mnemonic](self, here, statement, row)
        self.watch_groups(site, statement)

    def _begin_packet(self, site: Site, head: Name) -> None:
        """Let a packet stand in the open list, or in the one list of the part."""
        if self.list_line is not None:
            return
        if self.list_starts and not self.loose:
            raise Mistake(
                f"{head.text} stands outside of a list",
                head,
                "this part has lists; .list begins one",
            )
        if not self.loose:
            self.loose = True
            self.list_starts.append(0)
            name = Name(head.start, head.end, f"_list.{self.index}")
            self.open_list = self.assembly.names.label_here(site, name, self.lists)
            self.open_list.used = True

    def begin_list(self, site: Site, statement: Statement) -> None:
        """`.list NAME`."""
        if len(statement.operands) != 1 or not isinstance(statement.operands[0], Name):
            self._list_opens(site.line)
            raise wrong_operands(statement, ".list NAME")
        name = statement.operands[0]
        before, closed = self.list_line, not self.loose
        self._list_opens(site.line)
        here = site.moved(self.lists)
        here.align(PACKET_ALIGN)
        self.list_starts.append(self.lists.size)
        if not closed:
            raise Mistake(
                "packets stand before the first list",
                name,
                "every packet, or none, stands in a list",
            )
        if before is not None:
            self.assembly.report.mistake(before, Mistake("a list without its .endlist", (-1, -1)))
        self.open_list = self.assembly.names.label_here(site, name, self.lists)
        self.open_list.used = True

    def _list_opens(self, line: LogicalLine) -> None:
        self.list_line = line
        self.assembly.parts.area = self.lists

    def end_list(self, site: Site, statement: Statement) -> None:
        """`.endlist`."""
        assert statement.head is not None
        if self.list_line is None:
            raise Mistake(".endlist without .list", statement.head)
        self._close_list(site)
        if statement.operands:
            raise wrong_operands(statement, ".endlist")

    def _close_list(self, site: Site) -> None:
        here = site.moved(self.lists)
        here.align(PACKET_ALIGN)
        here.emit(bytes([END_OF_LIST]))
        if self.open_list is not None:
            start = self.list_starts[-1]
            self.open_list.size = self.lists.size - start
            self.open_list.datum = Datum("list", self.open_list.size)
        self.list_line = self.open_list = None
        self.assembly.parts.area = self.data

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
        if self.list_line is not None:
            line = self.list_line
            self.assembly.report.mistake(line, Mistake("a list without its .endlist", (-1, -1)))
            self._close_list(self.assembly.site(line))

    def finish(self) -> None:
        if self.loose:
            self._close_list(self.assembly.site(self.line))
        for exe in self.exes:
            with self.assembly.reporting(exe.site.line):
                for found in exe.tensors():
                    self._give_slot(found, exe)

    def _give_slot(self, found: Definition, exe: Exe) -> None:
        if found in self.slot_offsets or self._is_home(found):
            return
        assert found.datum is not None
        half = self._plan.limit
        if self.slots.size + found.datum.size > half:
            raise Mistake(
                f"'{found.name}' of {found.datum.size} bytes does not fit half of a unit,"
                f" {half} bytes (mem.unit_half_bytes)",
                exe.place_of(found.name),
            )
        self.slots.align_to(SLOT_ALIGN)
        self.slot_offsets[found] = self.slots.size
        self.slots.grow(found.datum.size)

    def slot(self, definition: Definition) -> int | None:
        if self._is_home(definition):
            return address_of(definition)
        offset = self.slot_offsets.get(definition)
        if offset is None or self.slots.base is None:
            return None
        return self.slots.base + offset

    def startup(self) -> Startup:
        assert self.index is not None
        plan, row = self._plan, 1 << self.index
        loads = [Transfer(self.base, plan.areas[0].load_base, plan.size)] if plan.size else []
        stores: list[Transfer] = []
        for found in self.slot_offsets:
            inside, outside = self.slot(found), address_of(found)
            assert inside is not None
            assert found.datum is not None
            if self.assembly.names.direction(found) == "input":
                loads.append(Transfer(inside, outside, found.datum.size))
                continue
            low, high = self._written(found)
            if high > low:
                stores.append(Transfer(outside + low, inside + low, high - low))
        for found in {exe.target for exe in self.exes if exe.target is not None}:
            if self._is_home(found):
                self._written(found)  # in its place, but another row may write it too
        runs = bool(self.list_starts)
        assert self.lists.base is not None
        lists = [(row, self.lists.base + start) for start in self.list_starts]
        waits = 1 << (self.core.number + self.index) if runs else 0
        return Startup(loads, row if loads else 0, lists, (), waits, stores)

    def _written(self, found: Definition) -> tuple[int, int]:
        """The bytes of an output that this row has to copy back; all if it is the only one."""
        writers = [form for form in self.assembly.parts if isinstance(form, CoreForm)]
        others = [form for form in writers if form is not self and form.writes(found)]
        if not self.writes(found):
            return 0, 0
        assert found.datum is not None
        if not others:
            return 0, found.datum.size
        low, high = self._range(found)
        for other in others:
            other_low, other_high = other._range(found)
            if other.line_before(self) and low < other_high and other_low < high:
                exe = next(exe for exe in self.exes if exe.target is found)
                self.assembly.report.mistake(
                    exe.site.line,
                    Mistake(
                        f"rows {self.index} and {other.index} both write"
                        f" '{found.name}', bytes {max(low, other_low)} to {min(high, other_high)}",
                        exe.place_of(found.name),
                        "write different parts, or copy them back in a cp part of your own",
                    ),
                )
        return low, high

    def line_before(self, other: CoreForm) -> bool:
        """Whether this part comes before the other one: of two, the later one is at fault."""
        parts = list(self.assembly.parts)
        return parts.index(self) < parts.index(other)

    def writes(self, found: Definition) -> bool:
        """Whether an exe of this row writes to the tensor."""
        return any(exe.target is found for exe in self.exes)

    def _range(self, found: Definition) -> tuple[int, int]:
        ranges = [exe.written for exe in self.exes if exe.target is found]
        return min(low for low, _ in ranges), max(high for _, high in ranges)


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
    _form(site).begin_list(site, statement)


def _endlist(site: Site, statement: Statement) -> None:
    _form(site).end_list(site, statement)


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
    ".then": _option,
    ".endseq": _endseq,
    ".endlist": _endlist,
}
_DEFINING = (".seq", ".list")
