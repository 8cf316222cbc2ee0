"""Assembles the segments of a packet: from the operand `data=` and the declarations of symbols."""

from __future__ import annotations

from collections.abc import Sequence

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.expressions import number
from macaw.asm.forms.pe.image import UNIT_WORD, RowImage
from macaw.asm.program import DTYPE_SIZES
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Datum, Definition
from macaw.asm.syntax import Group, Indexed, Mistake, Name, Node, Phrase, Slice
from macaw.isa import codec
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import (
    ACCUMULATORS,
    CONFIG_DATA,
    DTYPES,
    ELEMENTS,
    FORMS,
    MODES,
    OPERAND_DTYPES,
    OPERAND_TYPES,
    PAYLOADS,
    SCALE_DTYPE,
    SEGMENT,
    SEGMENT_TYPES,
    SUM_DTYPES,
    TABLE_ENTRIES,
    available,
    widest_of,
)
from macaw.isa.pe_elements import SAME

# The words of the segments of a packet, by its mnemonic and by what they say.
_WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "config": {"type": CONFIG_DATA, "mode": MODES},
    "exe": {
        "type": PAYLOADS["exe"].types,
        "mode": MODES,
        "form": FORMS,
        "element": ELEMENTS,
    },
}
_PLURAL = {"scales": "scales are", "table": "the entries of a table are"}
_EXAMPLES = {
    "config": "data=(scales s, table t)",
    "exe": "data=(x, weights w[0] sliced)",
}


def symbol_of(part: Node) -> Name:
    """Return the symbol in a node that is a symbol or, like `w[0]`, a part of one."""
    base = part.base if isinstance(part, Indexed) else part
    assert isinstance(base, Name)
    return base


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment, a piece of the data that a packet brings to the PEs, as the source writes it.

    `part` is the symbol or the part of one, `node` the whole operand. If the source does not name
    the type, mode, form or element type, the field is empty. `Places.record` then derives the value
    from the symbol's declaration and from the other fields.
    """

    node: Node
    part: Name | Indexed
    type: str
    mode: str
    form: str
    element: str

    @property
    def name(self) -> Name:
        """The symbol whose bytes the segment contains."""
        return symbol_of(self.part)


def segments(node: Node | None, mnemonic: str) -> list[Segment]:
    """Return the segments in `node`, the value of `data=` in a config or an exe."""
    if node is None:
        return []
    items = node.items if isinstance(node, Group) else (node,)
    return [_segment(item, mnemonic) for item in items]


def _segment(item: Node, mnemonic: str) -> Segment:
    groups = _WORDS[mnemonic]
    words = item.words if isinstance(item, Phrase) else (item,)
    chosen: dict[str, str] = {}
    parts: list[Name | Indexed] = []
    for word in words:
        text = word.text if isinstance(word, Name) and len(words) > 1 else ""
        what = next((name for name, group in groups.items() if text in group), "")
        if not what:
            if not isinstance(word, Name | Indexed):
                raise Mistake(
                    "a segment is a symbol, a part of one, or unit[from:to]",
                    word,
                    f"as in {_EXAMPLES[mnemonic]}",
                )
            parts.append(word)
        elif what in chosen:
            raise Mistake(f"the segment says its {what} twice", word)
        else:
            chosen[what] = text
    if len(parts) != 1:
        raise _which_symbol(item, parts, mnemonic)
    part = parts[0]
    if isinstance(part, Indexed) and not isinstance(part.base, Name):
        raise Mistake("a segment is a symbol, not a file", part, "give the data a label")
    said = [chosen.get(name, "") for name in ("type", "mode", "form", "element")]
    return Segment(item, part, *said)


def _which_symbol(item: Node, parts: Sequence[Node], mnemonic: str) -> Mistake:
    """Return the error for a segment `item` that does not name exactly one symbol.

    `parts` are the symbols, or parts of symbols, that it names.
    """
    if not parts:
        return Mistake("the segment names no symbol", item)
    words = [word for group in _WORDS[mnemonic].values() for word in group]
    foreign = {word for groups in _WORDS.values() for group in groups.values() for word in group}
    for part in parts:
        if isinstance(part, Name) and part.text in foreign.difference(words):
            there_are = "its words are " + ", ".join(words)
            return Mistake(f"a segment of {mnemonic} is never '{part.text}'", part, there_are)
        hint = did_you_mean(part.text, words) if isinstance(part, Name) else ""
        if hint:
            assert isinstance(part, Name)
            return Mistake(f"a segment has no word '{part.text}'", part, hint)
    return Mistake(
        "a segment names one symbol", parts[1], "its other words are " + ", ".join(words)
    )


@dataclass(frozen=True, slots=True)
class SegmentPlace:
    """The place of a segment: its byte offset in a half of the memory unit, and its size in bytes.

    `symbol` is the symbol that the segment names; it is None for `unit[a:b]`.
    """

    symbol: Definition | None
    datum: Datum | None
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Places:
    """Finds, after the layout, the bytes of the row's memory unit that a packet's operands name.

    The class also encodes the packet's records of segments. `typed` is true if a sequence of the
    row names element types. `table_element` is the element type of a config's table.
    """

    image: RowImage
    context: StatementContext
    typed: bool = False  # a sequence of the row names element types
    table_element: str = ""  # of a config: the element type of its table

    def place_of(self, part: Name | Indexed) -> SegmentPlace:
        """Return where the bytes that `part` names are in the unit. Raises `Mistake`."""
        base = symbol_of(part)
        if base.text == UNIT_WORD:
            return SegmentPlace(None, None, *self._run(part))
        definition, datum, offset, length = self.context.bytes_of(part)
        slot = self.image.state.tensor_slots.address(definition, self.image.index)
        start = self.image.offset_of(definition, base) if slot is None else slot - self.image.base
        return SegmentPlace(definition, datum, start + offset, length)

    def result_place(self, part: Name | Indexed) -> SegmentPlace:
        """Return the place in the unit that `part`, the target of `out=`, names. Raises `Mistake`.

        For `unit[offset]` the length is 0.
        """
        if symbol_of(part).text == UNIT_WORD and isinstance(part, Indexed):
            item = part.subscripts[0]
            if len(part.subscripts) == 1 and not isinstance(item, Slice):
                return SegmentPlace(None, None, self._offset(item), 0)
        return self.place_of(part)

    def _run(self, part: Name | Indexed) -> tuple[int, int]:
        if isinstance(part, Indexed) and len(part.subscripts) == 1:
            item = part.subscripts[0]
            if not isinstance(item, Slice):
                raise Mistake("a segment has a start and an end", part, "write unit[from:to]")
            if item.low is not None and item.high is not None:
                low, high = self._offset(item.low), self._offset(item.high)
                if low > high:
                    raise Mistake(f"the range {low}:{high} ends before it begins", item)
                return low, high - low
        raise Mistake("unit is written unit[offset] or unit[from:to]", part)

    def _offset(self, node: Node) -> int:
        value, half = number(node, self.context), self.image.plan.limit
        if not 0 <= value <= half:
            raise Mistake(f"unit: offset {value} is out of range, 0 to {half}", node)
        return value

    def record(self, segment: Segment, mask: int) -> bytes:
        """Return the packet's record of a segment as bytes: type, mode, offset and so on.

        `mask` has a bit for each cluster that receives the packet. Raises `Mistake`, for example if
        these clusters cannot share the segment's data evenly.
        """
        place = self.place_of(segment.part)
        kind, mode = segment.type, segment.mode
        if not kind:
            kind = _type_of(segment, place.datum)
        if segment.form and kind != "weights":
            raise Mistake(f"'{segment.form}' is for weights, not for {kind}", segment.node)
        if not mode:
            mode = "broadcast" if kind in ("activations", "table") else "sliced"
        if place.symbol is not None:
            self._check_dtype(segment, kind, place.datum)
            self._check_slices(segment, kind, mode, place, mask)
        return codec.pack(
            SEGMENT,
            {
                "type": SEGMENT_TYPES.index(kind),
                "mode": MODES.index(mode),
                "form": FORMS.index(_form_of(segment, place.datum)),
                "element": self._element(segment, kind, place.datum),
                "offset": place.offset,
                "length": place.length,
            },
        )

    def _element(self, segment: Segment, kind: str, datum: Datum | None) -> int:
        """Return the number for the element type in the segment's record. Raises `Mistake`.

        `kind` is the segment's type, for example weights. If the segment names an element type, the
        result is the number of this type. Otherwise, for weights and activations, the result is the
        number of the type with which the data are declared.

        The result is 0 for other kinds, and for a declared type that the array does not have. It is
        also 0 if the declared type is pe.element and no sequence of the row names types. The number
        0 means the element type that the sequence names or, if it names none, pe.element.
        """
        config = self.image.state.config
        if segment.element:
            has = available(config)
            if kind == "psums":
                has = tuple(x for x in ELEMENTS if DTYPES[x] == SUM_DTYPES[widest_of(config)])
            if segment.element not in has:
                raise Mistake(
                    f"the array has no {kind} of {segment.element}",
                    segment.node,
                    f"it has {', '.join(has)}; pe.widest says which",
                )
            dtype = datum.dtype if datum is not None else ""
            if dtype not in ("", "uint8", DTYPES[segment.element]):
                raise Mistake(
                    f"'{segment.name.text}' holds {dtype}, not {segment.element}", segment.node
                )
            return 1 + ELEMENTS.index(segment.element)
        if kind not in OPERAND_TYPES or datum is None:
            return 0
        name = next((x for x in available(config) if DTYPES[x] == datum.dtype), "")
        is_default = not name or (name == config["pe.element"] and not self.typed)
        return 0 if is_default else 1 + ELEMENTS.index(name)

    def _check_dtype(self, segment: Segment, kind: str, datum: Datum | None) -> None:
        if datum is None:
            return
        if datum.what in ("sequence", "list"):
            raise Mistake(f"'{segment.name.text}' is a {datum.what}, no data", segment.node)
        if kind in CONFIG_DATA:
            self._check_config_dtype(segment, kind, datum)
            return
        form = _form_of(segment, datum)
        if datum.what == "dense" and form == "records":
            raise Mistake(f"'{segment.name.text}' holds values without indices", segment.node)
        if datum.what == "sparse":
            if form != "records":
                raise Mistake(
                    f"'{segment.name.text}' holds index and value,"
                    f" '{form}' is for values without indices",
                    segment.node,
                )
            if kind != "weights":
                raise Mistake(
                    f"'{segment.name.text}' holds index and value, which only weights are",
                    segment.node,
                )
            return
        config = self.image.state.config
        expected = [DTYPES[x] for x in available(config)]
        if kind == "psums":
            expected = [SUM_DTYPES[widest_of(config)]]
        raw = kind == "weights" and form == "records" and datum.dtype == "uint8"
        if datum.dtype not in expected and not raw:
            name = "pe.element" if config["pe.widest"] == SAME else "pe.widest"
            raise Mistake(
                f"'{segment.name.text}' holds {datum.dtype}; {kind} are {' or '.join(expected)}"
                f" where {name} is {config[name]}",
                segment.node,
            )

    def _check_config_dtype(self, segment: Segment, kind: str, datum: Datum) -> None:
        """Raise `Mistake` unless the data are scales or entries of a table, as `kind` requires."""
        expected = SCALE_DTYPE if kind == "scales" else OPERAND_DTYPES[self.table_element]
        if datum.what == "sparse" or datum.dtype != expected:
            held = "index and value" if datum.what == "sparse" else datum.dtype or "bytes"
            why = "" if kind == "scales" else " as the activations of the sequence"
            raise Mistake(
                f"'{segment.name.text}' holds {held}; {_PLURAL[kind]} {expected}{why}", segment.node
            )

    def _check_config_slices(
        self, segment: Segment, kind: str, mode: str, length: int, mask: int
    ) -> None:
        """Raise `Mistake` for a wrong number of scales, or for a table with a wrong size or mode.

        `length` is the segment's length in bytes; `mask` has a bit for each cluster that receives
        it.
        """
        name = segment.name.text
        if kind == "scales":
            count, slices = length // DTYPE_SIZES[SCALE_DTYPE], self._slices(mode, mask)
            if count != slices:
                raise Mistake(
                    f"'{name}' has {count} scales here, {mode} takes {slices}", segment.node
                )
            return
        if mode != "broadcast":
            raise Mistake(f"a table is broadcast, not {mode}", segment.node)
        size = DTYPE_SIZES[OPERAND_DTYPES[self.table_element]]
        if length != TABLE_ENTRIES * size:
            raise Mistake(
                f"'{name}' has {length // size} entries here, a table has {TABLE_ENTRIES}",
                segment.node,
            )

    def _check_slices(
        self, segment: Segment, kind: str, mode: str, place: SegmentPlace, mask: int
    ) -> None:
        """Raise `Mistake` if a segment cannot be divided evenly among its receivers."""
        slices, datum, length = self._slices(mode, mask), place.datum, place.length
        if kind in CONFIG_DATA:
            self._check_config_slices(segment, kind, mode, length, mask)
            return
        name = segment.name.text
        if datum is not None and datum.what == "sparse":
            records = self.records(segment, datum)
            if mode != "broadcast" and records > slices:
                raise Mistake(
                    f"'{name}' has {records} rows here, {mode} gives {slices} PEs or clusters one",
                    segment.node,
                )
            return
        if kind == "weights" and _form_of(segment, datum) == "records":
            return  # records differ in length
        if datum is not None and datum.what == "dense":
            self.records(segment, datum)  # raises if the source names no round
            rows = length // (datum.shape[1] * DTYPE_SIZES[datum.dtype])
            if rows != slices:
                raise Mistake(
                    f"'{name}' has {rows} rows in a round, {mode} takes {slices}",
                    segment.node,
                    "clusters= and pes= of .dense say how many",
                )
            return
        item = max(1, length // _elements(datum, length))
        if length % (slices * item):
            raise Mistake(
                f"'{name}' has {length // item} elements here, which {slices} cannot share",
                segment.node,
                f"{mode} gives each the same number",
            )
        if (
            kind == "psums"
            and datum is not None
            and not 1 <= length // slices // item <= ACCUMULATORS
        ):
            raise Mistake(
                f"'{name}' gives a PE {length // slices // item} elements,"
                f" psums are 1 to {ACCUMULATORS}",
                segment.node,
            )

    def _slices(self, mode: str, mask: int) -> int:
        pes = int(self.image.state.config["pe.pes"])
        count = mask.bit_count()
        return {"broadcast": 1, "by_cluster": count, "by_pe": pes, "sliced": count * pes}[mode]

    def records(self, segment: Segment, datum: Datum) -> int:
        """Return the number of matrix rows in the round that a segment such as `w[0]` names.

        A round has the rows that the PEs take at a time. Raises `Mistake` if the segment names no
        round and the matrix has several rounds.
        """
        if isinstance(segment.part, Indexed):
            return datum.records[number(segment.part.subscripts[0], self.context)]
        if len(datum.rounds) > 1:
            name = segment.name.text
            raise Mistake(
                f"'{name}' has {len(datum.rounds)} rounds",
                segment.node,
                f"name one, {name}[0] to {name}[{len(datum.rounds) - 1}]",
            )
        return datum.records[0]

    def weight_pes(self, segments: Sequence[Segment], mask: int) -> int:
        """Return the number of the last PE that gets a row of a matrix of weights, plus 1.

        PEs are numbered over all clusters of a row of the array. `mask` has a bit for each cluster
        that receives the packet. The result is 0 (no limit) if no segment is from a matrix of
        weights, or if its mode is not "sliced". In the mode "sliced", each PE gets its own row.
        """
        for segment in segments:
            datum = (
                self.context.bytes_of(segment.part)[1] if segment.name.text != UNIT_WORD else None
            )
            if datum is not None and datum.rounds:
                pes = int(self.image.state.config["pe.pes"])
                last = self.records(segment, datum) - 1
                clusters = [cluster for cluster in range(mask.bit_length()) if mask >> cluster & 1]
                sliced = segment.mode in ("", "sliced")
                return clusters[last // pes] * pes + last % pes + 1 if sliced else 0
        return 0


def _type_of(segment: Segment, datum: Datum | None) -> str:
    """Return the type of a segment, weights or activations, if the source does not name the type.

    The type follows from `datum`, the type of the segment's data. Raises `Mistake` if it is None.
    """
    if datum is None:
        raise Mistake(
            f"what '{segment.name.text}' holds is not known",
            segment.node,
            "say weights, activations or psums before it",
        )
    return "weights" if datum.rounds else "activations"


def _form_of(segment: Segment, datum: Datum | None) -> str:
    """Return the form in which a segment's weights are stored; "records" for other contents."""
    return segment.form or ("dense" if datum is not None and datum.what == "dense" else "records")


def _elements(datum: Datum | None, length: int) -> int:
    """Return the number of elements in `length` bytes of a datum.

    If the datum has no element type, return the number of bytes.
    """
    if datum is not None and datum.what == "dense":
        return length // DTYPE_SIZES[datum.dtype]
    if datum is None or not datum.dtype or datum.what == "sparse":
        return max(length, 1)
    whole = 1
    for extent in datum.shape:
        whole *= extent
    return max(length * whole // datum.size, 1)
