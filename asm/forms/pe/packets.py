"""Packets: config, exe and markers, with their segments and the record of where results go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asm.data import ELEMENT_DTYPES
from asm.diagnostics import did_you_mean
from asm.expressions import NotYet, number
from asm.forms.pe.sequences import OpenSequence
from asm.operands import Bound, bind, value_of
from asm.output import address_of
from asm.symbols import Datum, Definition
from asm.syntax import (
    Again,
    Group,
    Indexed,
    Mistake,
    Name,
    Named,
    Node,
    Phrase,
    Slice,
    Statement,
)
from isa import codec
from isa.model import Instruction
from isa.pe import ELEMENTS, MODES, OUT, PACKET, SEGMENT, SEGMENT_TYPES

if TYPE_CHECKING:
    from asm.forms.pe import CoreForm
    from asm.site import Site

_SEQUENCE = SEGMENT_TYPES.index("sequence")
_TYPES = tuple(word for word in SEGMENT_TYPES if word != "sequence")
_COMPRESS = "compress"
_UNIT = "unit"  # unit[a:b]: bytes of the unit's half
_OUT_OPTIONS = ("stride", "step", "count", "pes", "type")
_U32 = (1 << 32) - 1
_U16 = (1 << 16) - 1
# What an accumulator holds, by the type of weights and activations.
_ACCUMULATED = {"int8": "int32", "int16": "int64", "fp16": "float32", "fp32": "float32"}
_MAX_PSUMS = 4  # elements a PE of a psums segment


def _packet(command: int, clusters: int, segments: Sequence[bytes], out: bytes = b"") -> bytes:
    head = {"command": command, "segments": len(segments), "clusters": clusters}
    return codec.pack(PACKET, head) + b"".join(segments) + out


def _command(site: Site, row: Instruction, bound: Bound) -> int:
    values = {name: value_of(bound.operand(name), node, site) for name, node in bound.given.items()}
    return codec.encode(row, values)


def _check_now(site: Site, bound: Bound) -> None:
    """Refuse at once what is known to be wrong. Raises `Mistake`."""
    for name, node in bound.given.items():
        try:
            value_of(bound.operand(name), node, site)
        except NotYet:
            bound.given[name] = site.folded(node)


def clusters(form: CoreForm, site: Site, node: Node | None) -> int:
    """The mask of `to=`. Raises `Mistake`."""
    count = form.assembly.config["pe.clusters"]
    if node is None or (isinstance(node, Name) and node.text == "all"):
        return int((1 << count) - 1)
    mask = 0
    for item in node.items if isinstance(node, Group) else (node,):
        value = number(item, site)
        if not 0 <= value < count:
            raise Mistake(f"to: cluster {value} is out of range, 0 to {count - 1}", item)
        if mask >> value & 1:
            raise Mistake(f"to: cluster {value} is given twice", item)
        mask |= 1 << value
    if not mask:
        raise Mistake("to: a cluster is needed", node)
    return mask


def place_marker(form: CoreForm, site: Site, statement: Statement, row: Instruction) -> None:
    """Put a packet that is a command alone. Raises `Mistake`."""
    bound = bind(row, statement, ("to",))
    _check_now(site, bound)

    def make() -> bytes:
        mask = clusters(form, site, bound.extra.get("to"))
        return _packet(_command(site, row, bound), mask, ())

    site.later(PACKET.size, make)


def place_config(form: CoreForm, site: Site, statement: Statement, row: Instruction) -> None:
    """Put a config packet, whose segment is a sequence. Raises `Mistake`."""
    bound = bind(row, statement, ("sequence", "to"), ("sequence",))
    assert statement.head is not None
    name = bound.extra.get("sequence")
    if not isinstance(name, Name):
        place = (statement.head.start, statement.end) if name is None else name
        raise Mistake("config needs the name of a sequence", place, "write config ib=0, NAME")
    _check_now(site, bound)
    try:
        buffer = value_of(bound.operand("ib"), bound.given["ib"], site)
    except NotYet:
        pass
    else:
        form.buffers[buffer] = name

    def make() -> bytes:
        definition, datum, _offset, length = site.part(name)
        if datum is not None and datum.what != "sequence":
            raise Mistake(f"'{name.text}' is no sequence", name)
        offset = _in_image(form, definition, name)
        segment = {"type": _SEQUENCE, "offset": offset, "length": length}
        if offset % 2:
            raise Mistake(f"'{name.text}' lies at an odd address", name)
        mask = clusters(form, site, bound.extra.get("to"))
        return _packet(_command(site, row, bound), mask, [codec.pack(SEGMENT, segment)])

    site.later(PACKET.size + SEGMENT.size, make)


def _in_image(form: CoreForm, definition: Definition, node: Name) -> int:
    """The offset of a symbol in the part's image. Raises `Mistake`."""
    address = address_of(definition)
    if not form.base <= address <= form.base + form.plan().size:
        hint = f"put it behind '.core {form.core.name}, {form.core.index}={form.index}'"
        raise Mistake(f"'{node.text}' does not lie in row {form.index}", node, hint)
    return address - form.base


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment as the source writes it; empty words come from the symbol."""

    node: Node
    part: Name | Indexed
    type: str
    mode: str
    compress: bool

    @property
    def name(self) -> Name:
        """The symbol."""
        base = self.part.base if isinstance(self.part, Indexed) else self.part
        assert isinstance(base, Name)
        return base


def _segments(node: Node | None) -> list[Segment]:
    """The segments of `data=`. Raises `Mistake`."""
    if node is None:
        return []
    items = node.items if isinstance(node, Group) else (node,)
    return [_segment(item) for item in items]


def _segment(item: Node) -> Segment:
    words = item.words if isinstance(item, Phrase) else (item,)
    found: dict[str, str] = {}
    parts: list[Name | Indexed] = []
    for word in words:
        text = word.text if isinstance(word, Name) and len(words) > 1 else ""
        what = "type" if text in _TYPES else "mode" if text in MODES else text * (text == _COMPRESS)
        if not what:
            if not isinstance(word, Name | Indexed):
                raise Mistake(
                    "a segment is a symbol, a part of one, or unit[from:to]",
                    word,
                    "as in data=(x, weights w[0] sliced)",
                )
            parts.append(word)
        elif what in found:
            raise Mistake(f"the segment says its {what} twice", word)
        else:
            found[what] = text
    if len(parts) != 1:
        raise _which_symbol(item, parts)
    part = parts[0]
    if isinstance(part, Indexed) and not isinstance(part.base, Name):
        raise Mistake("a segment is a symbol, not a file", part, "give the data a label")
    return Segment(item, part, found.get("type", ""), found.get("mode", ""), _COMPRESS in found)


def _which_symbol(item: Node, parts: Sequence[Node]) -> Mistake:
    """What to say of a segment with no symbol, or with two words that could be it."""
    if not parts:
        return Mistake("the segment names no symbol", item)
    words = [*_TYPES, *MODES, _COMPRESS]
    for part in parts:
        hint = did_you_mean(part.text, words) if isinstance(part, Name) else ""
        if hint:
            assert isinstance(part, Name)
            return Mistake(f"a segment has no word '{part.text}'", part, hint)
    return Mistake(
        "a segment names one symbol", parts[1], "its other words are " + ", ".join(words)
    )


class Exe:
    """An exe packet: its segments, and where its results go."""

    def __init__(self, form: CoreForm, site: Site, statement: Statement, row: Instruction) -> None:
        """Put the packet. Raises `Mistake`."""
        self.form, self.site, self.row = form, site, row
        self.bound = bind(row, statement, ("data", "out", "to"))
        self.segments = _segments(self.bound.extra.get("data"))
        self.target: Definition | None = None  # the tensor that results go to
        self.written = (0, 0)  # its bytes that may be written
        self._out: Node | None = None
        self._options: Mapping[str, Named] = {}
        self._read_out(self.bound.extra.get("out"), statement)
        self._fold()
        _check_now(site, self.bound)
        self._sequence = self._configured()
        size = PACKET.size + len(self.segments) * SEGMENT.size + OUT.size
        site.later(size, self._bytes)

    def _read_out(self, node: Node | None, statement: Statement) -> None:
        if node is None:
            return
        assert statement.head is not None
        items = node.items if isinstance(node, Group) else (node,)
        plain = [item for item in items if not isinstance(item, Named)]
        if len(plain) != 1 or not isinstance(plain[0], Name | Indexed):
            raise Mistake(
                "out= takes a symbol, a part of one, or unit[offset]",
                node,
                "as in out=y or out=(y[0], stride=4, step=4, count=1, pes=8)",
            )
        self._out = plain[0]
        self._options = self.site.named(items, _OUT_OPTIONS, Name(node.start, node.end, "out"))

    def _fold(self) -> None:
        """Let symbols that may be set again keep the values that they have here."""
        site = self.site
        self.segments = [
            Segment(x.node, folded, x.type, x.mode, x.compress)
            for x in self.segments
            if isinstance(folded := self._folded_part(x.part), Name | Indexed)
        ]
        if self._out is not None:
            self._out = self._folded_part(self._out)
        self._options = {
            key: Named(item.start, item.end, item.name, site.folded(item.value))
            if key != "type"
            else item
            for key, item in self._options.items()
        }
        to = self.bound.extra.get("to")
        if to is not None and not isinstance(to, Name):
            self.bound.extra["to"] = site.folded(to)

    def _folded_part(self, node: Node) -> Node:
        return self.site.folded(node) if isinstance(node, Indexed) else node

    def _configured(self) -> Name | None:
        """The name of the sequence that will run; a warning if no config has named one."""
        node = self.bound.given["ib"]
        try:
            buffer = value_of(self.bound.operand("ib"), node, self.site)
        except NotYet:
            return None
        if buffer not in self.form.buffers:
            self.site.warn(
                f"instruction buffer {buffer} is executed before a config fills it", node
            )
        return self.form.buffers.get(buffer)

    def place_of(self, symbol: str) -> Node | tuple[int, int]:
        """Where the statement names a symbol."""
        parts = [segment.part for segment in self.segments]
        for part in [*parts, *([self._out] if self._out is not None else [])]:
            base = part.base if isinstance(part, Indexed) else part
            if isinstance(base, Name) and base.text == symbol:
                return part
        return (-1, -1)

    def tensors(self) -> list[Definition]:
        """The tensors that the packet names, when all sources are read. Raises `Mistake`."""
        found = []
        for segment in self.segments:
            definition = self._tensor(segment.name)
            if definition is not None:
                found.append(definition)
        if self._out is not None:
            base = self._out.base if isinstance(self._out, Indexed) else self._out
            assert isinstance(base, Name)
            self.target = self._tensor(base)
            if self.target is not None:
                found.append(self.target)
                if self.form.assembly.names.direction(self.target) == "input":
                    message = f"'{base.text}' is an input; results in it are not copied back"
                    self.site.warn(message, base)
        return found

    def _tensor(self, name: Name) -> Definition | None:
        if name.text == _UNIT:
            return None
        try:
            definition = self.site.definition(name)
        except Again:  # the other tensors have their places all the same
            return None
        if definition is None or definition.datum is None or definition.datum.what != "tensor":
            return None
        return definition

    # --- bytes ---

    def _bytes(self) -> bytes:
        mask = clusters(self.form, self.site, self.bound.extra.get("to"))
        segments = [self._segment_bytes(segment, mask) for segment in self.segments]
        out = self._out_bytes(mask)
        return _packet(_command(self.site, self.row, self.bound), mask, segments, out)

    def _located(self, part: Name | Indexed) -> tuple[Definition | None, Datum | None, int, int]:
        """Symbol, datum, offset in the unit's half, length. Raises `Mistake`."""
        base = part.base if isinstance(part, Indexed) else part
        assert isinstance(base, Name)
        if base.text == _UNIT:
            return None, None, *self._unit(part)
        definition, datum, offset, length = self.site.part(part)
        slot = self.form.slot(definition)
        if slot is not None:
            return definition, datum, slot - self.form.base + offset, length
        return definition, datum, _in_image(self.form, definition, base) + offset, length

    def _unit(self, part: Name | Indexed) -> tuple[int, int]:
        half = self.form.plan().limit
        if isinstance(part, Indexed) and len(part.subscripts) == 1:
            item = part.subscripts[0]
            if not isinstance(item, Slice) and part is self._out:
                return self._offset(item, half), 0
            if not isinstance(item, Slice):
                raise Mistake("a segment has a begin and an end", part, "write unit[from:to]")
            if item.low is not None and item.high is not None:
                low, high = self._offset(item.low, half), self._offset(item.high, half)
                if low > high:
                    raise Mistake(f"the range {low}:{high} ends before it begins", item)
                return low, high - low
        raise Mistake("unit is written unit[offset] or unit[from:to]", part)

    def _offset(self, node: Node, half: int) -> int:
        value = number(node, self.site)
        if not 0 <= value <= half:
            raise Mistake(f"unit: offset {value} is out of range, 0 to {half}", node)
        return value

    def _segment_bytes(self, segment: Segment, mask: int) -> bytes:
        definition, datum, offset, length = self._located(segment.part)
        kind, mode = segment.type, segment.mode
        if not kind:
            kind = _type_of(segment, datum)
        if not mode:
            mode = "broadcast" if kind == "activations" else "sliced"
        if definition is not None:
            self._check_dtype(segment, kind, datum)
            self._check_slices(segment, kind, mode, datum, length, mask)
        return codec.pack(
            SEGMENT,
            {
                "type": SEGMENT_TYPES.index(kind),
                "mode": MODES.index(mode),
                "compress": int(segment.compress),
                "offset": offset,
                "length": length,
            },
        )

    def _check_dtype(self, segment: Segment, kind: str, datum: Datum | None) -> None:
        if datum is None:
            return
        if datum.what in ("sequence", "list"):
            raise Mistake(f"'{segment.name.text}' is a {datum.what}, no data", segment.node)
        element = self.form.assembly.config["pe.element"]
        if datum.what == "sparse":
            if kind != "weights" or segment.compress:
                raise Mistake(
                    f"'{segment.name.text}' holds index and value, which only weights are",
                    segment.node,
                )
            return
        wanted = _ACCUMULATED[element] if kind == "psums" else ELEMENT_DTYPES[element]
        raw = kind == "weights" and not segment.compress and datum.dtype == "uint8"
        if datum.dtype != wanted and not raw:
            raise Mistake(
                f"'{segment.name.text}' holds {datum.dtype}; {kind} are {wanted}"
                f" where pe.element is {element}",
                segment.node,
            )

    def _check_slices(
        self, segment: Segment, kind: str, mode: str, datum: Datum | None, length: int, mask: int
    ) -> None:
        """Refuse a segment that does not divide among those who get it. Raises `Mistake`."""
        slices = self._slices(mode, mask)
        name = segment.name.text
        if datum is not None and datum.what == "sparse":
            records = self._records(segment, datum)
            if mode != "broadcast" and records > slices:
                raise Mistake(
                    f"'{name}' has {records} rows here, {mode} gives {slices} PEs or clusters one",
                    segment.node,
                )
            return
        if kind == "weights" and not segment.compress:
            return  # records, whose lengths differ
        item = max(1, length // datum_elements(datum, length))
        if length % (slices * item):
            raise Mistake(
                f"'{name}' has {length // item} elements here, which {slices} cannot share",
                segment.node,
                f"{mode} gives each the same number",
            )
        if (
            kind == "psums"
            and datum is not None
            and not 1 <= length // slices // item <= _MAX_PSUMS
        ):
            raise Mistake(
                f"'{name}' gives a PE {length // slices // item} elements,"
                f" psums are 1 to {_MAX_PSUMS}",
                segment.node,
            )

    def _slices(self, mode: str, mask: int) -> int:
        pes = int(self.form.assembly.config["pe.pes"])
        count = mask.bit_count()
        return {"broadcast": 1, "by_cluster": count, "by_pe": pes, "sliced": count * pes}[mode]

    def _records(self, segment: Segment, datum: Datum) -> int:
        """Rows of the round that a segment names. Raises `Mistake`."""
        if isinstance(segment.part, Indexed):
            return datum.records[number(segment.part.subscripts[0], self.site)]
        if len(datum.rounds) > 1:
            name = segment.name.text
            raise Mistake(
                f"'{name}' has {len(datum.rounds)} rounds",
                segment.node,
                f"name one, {name}[0] to {name}[{len(datum.rounds) - 1}]",
            )
        return datum.records[0]

    def _out_bytes(self, mask: int) -> bytes:
        if self._out is None:
            return codec.pack(OUT, {})
        assert isinstance(self._out, Name | Indexed)
        definition, datum, offset, within = self._located(self._out)
        element = self._element(datum)
        size = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "fp16": 2, "fp32": 4}[element]
        count = self._option("count", 1, _U16)
        step = self._option("step", size, _U32)
        stride = self._option("stride", min(count * step, _U32), _U32)
        config = self.form.assembly.config
        all_pes = int(config["pe.clusters"] * config["pe.pes"])
        pes = self._option("pes", self._weight_pes(mask), all_pes)
        if definition is not None and count:
            self._check_extent(offset, within, (stride, step, count, pes, size), mask)
        values = {
            "offset": offset,
            "stride": stride,
            "step": step,
            "count": count,
            "pes": pes,
            "element": ELEMENTS.index(element),
        }
        return codec.pack(OUT, values)

    def _option(self, name: str, default: int, high: int) -> int:
        item = self._options.get(name)
        if item is None:
            return default
        value = number(item.value, self.site)
        if not 0 <= value <= high:
            raise Mistake(f"{name}: {value} is out of range, 0 to {high}", item.value)
        return value

    def _element(self, datum: Datum | None) -> str:
        assert self._out is not None
        item = self._options.get("type")
        if item is not None:
            word = item.value.text if isinstance(item.value, Name) else ""
            if word not in ELEMENTS:
                hint = did_you_mean(word, ELEMENTS) or "there are " + ", ".join(ELEMENTS)
                raise Mistake("type takes an element type of the array", item.value, hint)
            return word
        dtype = datum.dtype if datum is not None else ""
        for element in ELEMENTS:
            if ELEMENT_DTYPES[element] == dtype:
                return element
        if dtype:
            known = ", ".join(ELEMENT_DTYPES.values())
            raise Mistake(f"results are not written as {dtype}", self._out, f"there are {known}")
        raise Mistake("the element type of the results is not known", self._out, "say type=")

    def _weight_pes(self, mask: int) -> int:
        """One more than the index of the last PE that has a row of the weights; 0: all PEs."""
        for segment in self.segments:
            if segment.name.text == _UNIT:
                continue
            _found, datum, _offset, _length = self.site.part(segment.part)
            if datum is not None and datum.what == "sparse":
                pes = int(self.form.assembly.config["pe.pes"])
                last = self._records(segment, datum) - 1
                taken = [cluster for cluster in range(mask.bit_length()) if mask >> cluster & 1]
                sliced = segment.mode in ("", "sliced")
                return taken[last // pes] * pes + last % pes + 1 if sliced else 0
        return 0

    def _check_extent(
        self, offset: int, within: int, shape: tuple[int, int, int, int, int], mask: int
    ) -> None:
        """Refuse results that would be written behind their tensor. Raises `Mistake`.

        The record begins at `offset`; `within` is the length of the part that is named.
        """
        assert self._out is not None
        stride, step, count, pes, size = shape
        per_cluster = int(self.form.assembly.config["pe.pes"])
        writers = min(pes or 1 << 16, mask.bit_length() * per_cluster)
        first = (mask & -mask).bit_length() - 1
        stores = self._stores()
        last = (writers - 1) * stride + ((stores or 1) * count - 1) * step + size
        base = self._out.base if isinstance(self._out, Indexed) else self._out
        assert isinstance(base, Name)
        _found, _datum, start, length = self._located(base)
        end = start + length
        if isinstance(self._out, Indexed) and isinstance(self._out.subscripts[-1], Slice):
            end = offset + within  # y[0:4] is meant to take no more
        if offset + last > end:
            raise Mistake(
                f"results of {writers} PEs reach {offset + last - end} bytes behind '{base.text}'",
                self._out,
                "pes=, stride=, step= and count= say what is written",
            )
        low = offset - start + first * per_cluster * stride
        high = offset - start + last if stores is not None else length
        self.written = (min(low, high), high)

    def _stores(self) -> int | None:
        """How many times the sequence stores; None if that is not known."""
        sequence = self._known_sequence()
        stores = sequence.stores() if sequence is not None else None
        return stores if stores != 0 else None

    def _known_sequence(self) -> OpenSequence | None:
        if self._sequence is None:
            return None
        try:
            definition = self.site.definition(self._sequence)
        except (Mistake, Again):
            return None
        if definition is None:
            return None
        return self.form.sequence_of(definition)


def _type_of(segment: Segment, datum: Datum | None) -> str:
    """What a segment holds whose source does not say it. Raises `Mistake`."""
    if datum is None:
        raise Mistake(
            f"what '{segment.name.text}' holds is not known",
            segment.node,
            "say weights, activations or psums before it",
        )
    return "weights" if datum.what == "sparse" else "activations"


def datum_elements(datum: Datum | None, length: int) -> int:
    """Elements in `length` bytes of a datum; its bytes if it has no type."""
    if datum is None or not datum.dtype or datum.what == "sparse":
        return max(length, 1)
    whole = 1
    for extent in datum.shape:
        whole *= extent
    return max(length * whole // datum.size, 1)
