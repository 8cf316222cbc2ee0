"""Assembles the packets of a PE row: config, exe and markers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from macaw.asm.expressions import NotYet, number
from macaw.asm.forms.pe.image import UNIT_WORD, RowImage
from macaw.asm.forms.pe.results import Results
from macaw.asm.forms.pe.segments import Places, Segment, segments, symbol_of
from macaw.asm.forms.pe.sequences import OpenSequence, SequenceTable
from macaw.asm.forms.pe.writers import first_alone, stores_early
from macaw.asm.operands import BoundOperands, bind, value_of
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Definition
from macaw.asm.syntax import AlreadyReported, Group, Indexed, Mistake, Name, Node, Statement
from macaw.isa import codec
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import (
    COMMAND_BITS,
    CORE,
    OPERAND_DTYPES,
    OUT,
    PACKET,
    SEGMENT,
    SEGMENT_TYPES,
    SEQUENCE_ALIGN,
)
from macaw.isa.rows import Instruction

_SEQUENCE = SEGMENT_TYPES.index("sequence")


def _packet(command: int, clusters: int, segments: Sequence[bytes], out: bytes = b"") -> bytes:
    head = {"command": command, "segments": len(segments), "clusters": clusters}
    return codec.pack(PACKET, head) + b"".join(segments) + out


def _command(context: StatementContext, row: Instruction, bound: BoundOperands) -> int:
    values = {
        name: value_of(bound.operand(name), node, context) for name, node in bound.nodes.items()
    }
    return codec.encode(row, values)


def _check_now(context: StatementContext, bound: BoundOperands) -> None:
    """Check the operands whose values are known before the layout. Raises `Mistake`.

    In the other operands, put the current values in place of symbols that may be set again.
    """
    for name, node in bound.nodes.items():
        try:
            value_of(bound.operand(name), node, context)
        except NotYet:
            bound.nodes[name] = context.fold(node)


def clusters(image: RowImage, context: StatementContext, node: Node | None) -> int:
    """Return the mask of the clusters that `node`, the value of `to=`, names.

    If `node` is None, the mask has all clusters. Raises `Mistake`.
    """
    count = image.state.config["pe.clusters"]
    if node is None or (isinstance(node, Name) and node.text == "all"):
        return int((1 << count) - 1)
    mask = 0
    for item in node.items if isinstance(node, Group) else (node,):
        value = number(item, context)
        if not 0 <= value < count:
            raise Mistake(f"to: cluster {value} is out of range, 0 to {count - 1}", item)
        if mask >> value & 1:
            raise Mistake(f"to: cluster {value} is given twice", item)
        mask |= 1 << value
    if not mask:
        raise Mistake("to: a cluster is needed", node)
    return mask


def place_marker(
    image: RowImage, context: StatementContext, statement: Statement, row: Instruction
) -> None:
    """Append a marker to the open list: a packet without segments. Raises `Mistake`."""
    bound = bind(row, statement, ("to",))
    _check_now(context, bound)

    def make() -> bytes:
        mask = clusters(image, context, bound.extra.get("to"))
        return _packet(_command(context, row, bound), mask, ())

    context.emit_later(PACKET.size, make)


@dataclass(frozen=True)
class BufferContents:
    """What the config packets so far have stored in the instruction buffers.

    `names` has the name of the sequence by the number of the buffer. `apart` has the buffers that
    only some clusters have got, because a config had the operand `to=`.
    """

    names: Mapping[int, Name] = field(default_factory=dict)
    apart: frozenset[int] = frozenset()  # buffers that only some clusters have

    def with_config(self, buffer: int, name: Name, everywhere: bool) -> BufferContents:
        """Return the contents after a config that stores the sequence `name` in `buffer`.

        `everywhere` is false if only some clusters get the config (`to=`).
        """
        apart = self.apart - {buffer} if everywhere else self.apart | {buffer}
        return BufferContents({**self.names, buffer: name}, apart)


class Config:
    """A config packet: its sequence, and its segments with scales and a table."""

    def __init__(
        self,
        image: RowImage,
        sequences: SequenceTable,
        context: StatementContext,
        statement: Statement,
        row: Instruction,
    ) -> None:
        """Create the packet of a `config` statement, and append it to the open packet list.

        `row` is the packet's row of the instruction table. Raises `Mistake`.
        """
        self._image, self._sequences, self.context = image, sequences, context
        self.row = row
        self.bound = bind(row, statement, ("sequence", "data", "to"), ("sequence",))
        assert statement.head is not None
        name = self.bound.extra.get("sequence")
        if not isinstance(name, Name):
            place = (statement.head.start, statement.end) if name is None else name
            raise Mistake("config needs the name of a sequence", place, "write config ib=0, NAME")
        self.name = name
        data = segments(self.bound.extra.get("data"), row.mnemonic)
        self.segments = [_fold_part(context, segment) for segment in data]
        self._check_types()
        _check_now(context, self.bound)
        context.emit_later(PACKET.size + SEGMENT.size * (1 + len(data)), self._bytes)

    def _check_types(self) -> None:
        """Raise `Mistake` if a segment's type is unknown, or if two segments have the same type."""
        types: set[str] = set()
        for segment in self.segments:
            if not segment.type:
                raise Mistake(
                    f"what '{segment.name.text}' holds is not known",
                    segment.node,
                    "say scales or table before it",
                )
            if segment.type in types:
                raise Mistake(f"the config has two segments of type {segment.type}", segment.node)
            types.add(segment.type)

    def contents_after(self, buffers: BufferContents) -> BufferContents:
        """Return the contents of the instruction buffers after this config.

        `buffers` are the contents before it.
        """
        try:
            buffer = value_of(self.bound.operand("ib"), self.bound.nodes["ib"], self.context)
        except NotYet:
            return buffers
        return buffers.with_config(buffer, self.name, everywhere="to" not in self.bound.extra)

    def place_of(self, symbol: str) -> Node | tuple[int, int]:
        """Return the node of the segment that names `symbol`, as the position for a message."""
        return _place_of([segment.part for segment in self.segments], symbol)

    def tensors(self) -> list[Definition]:
        """Return the tensors that the packet names. Raises `Mistake`.

        Valid after all sources are read.
        """
        tensors = [tensor_of(self.context, segment.name) for segment in self.segments]
        return [definition for definition in tensors if definition is not None]

    def _bytes(self) -> bytes:
        name, context = self.name, self.context
        definition, datum, _offset, length = context.bytes_of(name)
        if datum is not None and datum.what != "sequence":
            raise Mistake(f"'{name.text}' is no sequence", name)
        offset = self._image.offset_of(definition, name)
        segment = {"type": _SEQUENCE, "offset": offset, "length": length}
        if offset % SEQUENCE_ALIGN:
            raise Mistake(f"'{name.text}' lies at an odd address", name)
        sequence = self._sequences.at(definition)
        self._check_use(sequence)
        mask = clusters(self._image, context, self.bound.extra.get("to"))
        element = self._image.state.config["pe.element"]
        if sequence is not None:
            element = sequence.element("activations")
        places = Places(self._image, context, table_element=element)
        records = [codec.pack(SEGMENT, segment)]
        records += [places.record(segment, mask) for segment in self.segments]
        return _packet(_command(context, self.row, self.bound), mask, records)

    def _check_use(self, sequence: OpenSequence | None) -> None:
        """Raise `Mistake` unless the packet has exactly the segments that the sequence needs."""
        if sequence is None:
            return
        brought = {segment.type: segment for segment in self.segments}
        element = self._image.state.config["pe.element"]
        if "table" in brought and OPERAND_DTYPES[element].startswith("float"):
            message = f"a table is for integers; pe.element is {element}"
            raise Mistake(message, brought["table"].node)
        for kind, (option, is_used) in sequence.config_data().items():
            if is_used and kind not in brought:
                raise Mistake(
                    f"'{self.name.text}' has {option}; its config brings no {kind}",
                    self.name,
                    f"add data=({kind} SYMBOL)",
                )
            if kind in brought and not is_used:
                raise Mistake(
                    f"'{self.name.text}' uses no {kind}",
                    brought[kind].node,
                    f"say {option}",
                )


def _fold_part(context: StatementContext, segment: Segment) -> Segment:
    """Return the segment with the current values of those symbols that may be set again."""
    part = context.fold(segment.part) if isinstance(segment.part, Indexed) else None
    return replace(segment, part=part) if isinstance(part, Indexed) else segment


def _place_of(parts: Sequence[Name | Indexed], symbol: str) -> Node | tuple[int, int]:
    return next((part for part in parts if symbol_of(part).text == symbol), (-1, -1))


def tensor_of(context: StatementContext, name: Name) -> Definition | None:
    """Return the tensor that a name means, or None if it means something else.

    Raises `Mistake`.
    """
    if name.text == UNIT_WORD:
        return None
    try:
        definition = context.definition(name)
    except AlreadyReported:  # the other tensors are still listed
        return None
    if definition is None or definition.datum is None or definition.datum.what != "tensor":
        return None
    return definition


class Exe:
    """An exe packet: its segments, and where its results are written."""

    def __init__(
        self,
        image: RowImage,
        sequences: SequenceTable,
        buffers: BufferContents,
        context: StatementContext,
        statement: Statement,
        row: Instruction,
    ) -> None:
        """Create the packet of an `exe` statement, and append it to the open packet list.

        `row` is the packet's row of the instruction table. `buffers` has the sequences that
        earlier packets have stored in the instruction buffers. Raises `Mistake`.
        """
        self._image, self.context, self.row = image, context, row
        self._sequences = sequences
        self.bound = bind(row, statement, ("data", "out", "to"))
        out, to = self.bound.extra.get("out"), self.bound.extra.get("to")
        data = segments(self.bound.extra.get("data"), row.mnemonic)
        self.segments = [_fold_part(context, segment) for segment in data]
        self.results = Results(context, out) if out is not None else None
        if to is not None and not isinstance(to, Name):
            self.bound.extra["to"] = context.fold(to)
        _check_now(context, self.bound)
        self._before = buffers
        self._sequence = self._expected_sequence()
        size = PACKET.size + len(self.segments) * SEGMENT.size + OUT.size
        context.emit_later(size, self._bytes)

    def _buffer(self) -> int | None:
        """Return the number of the packet's instruction buffer; None if it is not known yet."""
        try:
            return value_of(self.bound.operand("ib"), self.bound.nodes["ib"], self.context)
        except NotYet:
            return None

    def _expected_sequence(self) -> Name | None:
        """Return the name of the sequence that the packet starts; None if the name is not known.

        Warns if no earlier config packet has filled the packet's instruction buffer.
        """
        buffer = self._buffer()
        if buffer is None:
            return None
        if buffer not in self._before.names:
            message = f"instruction buffer {buffer} is executed before a config fills it"
            self.context.warn(message, self.bound.nodes["ib"], name="buffer")
        return self._before.names.get(buffer)

    @property
    def target(self) -> Definition | None:
        """The tensor to which the packet writes its results; None if `out=` names no tensor."""
        return self.results.target if self.results is not None else None

    @property
    def written_range(self) -> tuple[int, int]:
        """The range (first, end) of byte offsets in `target` that the packet may write.

        Valid after the layout.
        """
        return self.results.written_range if self.results is not None else (0, 0)

    def place_of(self, symbol: str) -> Node | tuple[int, int]:
        """Return the node of the operand that names `symbol`, as the position for a message."""
        parts: list[Name | Indexed] = [segment.part for segment in self.segments]
        if self.results is not None:
            parts.append(self.results.part)
        return _place_of(parts, symbol)

    def tensors(self) -> list[Definition]:
        """Return the tensors that the packet names. Raises `Mistake`.

        Valid after all sources are read.
        """
        tensors = [tensor_of(self.context, segment.name) for segment in self.segments]
        if self.results is not None:
            self.results.target = tensor_of(self.context, self.results.name)
            tensors.append(self.results.target)
        target = self.target
        if target is not None and self._image.state.symbols.direction(target) == "input":
            message = f"'{target.name}' is an input; results in it are not copied back"
            self.context.warn(
                message,
                self.results.name if self.results is not None else Node(-1, -1),
                name="input-results",
            )
        return [definition for definition in tensors if definition is not None]

    def _bytes(self) -> bytes:
        self._check_chain()
        typed = any(sequence.names_types for sequence in self._sequences.values())
        places = Places(self._image, self.context, typed)
        mask = clusters(self._image, self.context, self.bound.extra.get("to"))
        records = [places.record(segment, mask) for segment in self.segments]
        out = codec.pack(OUT, {})
        if self.results is not None:
            weight_pes = places.weight_pes(self.segments, mask)
            sequence = self._sequence_at(self._sequence)
            writers = self.results.writers(places, mask, weight_pes, self._first_alone(sequence))
            out = self.results.record(places, writers, self._stores())
        return _packet(_command(self.context, self.row, self.bound), mask, records, out)

    def may_write(self, tensor: Definition) -> bool:
        """Return whether the packet may write results to `tensor`. Valid after the layout."""
        if self.results is None:
            return False
        if self.results.name.text != UNIT_WORD and self.target is not tensor:
            return False
        sequence = self._sequence_at(self._sequence)
        if sequence is None or sequence.continues:
            return True
        try:
            return any(self._flags()) or stores_early(sequence.queue_moves())
        except (Mistake, AlreadyReported):  # reported at its own line
            return True

    def _flags(self) -> tuple[bool, bool]:
        """Return the flags `shift` and `last` of the packet. Raises `Mistake`."""
        command = _command(self.context, self.row, self.bound)
        values = codec.decode(CORE, command, COMMAND_BITS).values
        return bool(values["shift"]), bool(values["last"])

    def _first_alone(self, sequence: OpenSequence | None) -> bool:
        """Return whether only PE 0 of each cluster has results to write."""
        if sequence is None:
            return False
        every = self._sequences.values()
        try:
            unknown = any(one.first for other in every for one in other.queue_moves())
            return first_alone(sequence.queue_moves(), *self._flags(), unknown)
        except (
            Mistake,
            AlreadyReported,
        ):  # reported at its own line; with few writers it causes no second error
            return True

    def _sequence_at(self, name: Name | None) -> OpenSequence | None:
        """Return the sequence that begins at the symbol `name`; None if it is not known."""
        if name is None:
            return None
        try:
            definition = self.context.definition(name)
        except (Mistake, AlreadyReported):
            return None
        return self._sequences.at(definition) if definition is not None else None

    def _stores(self) -> int | None:
        """Return how often the instruction buffers that the packet runs execute a store.

        Return None if the number is not known.
        """
        chain, again = self._chain()
        try:
            flags = self._flags()
        except Mistake:  # reported at its own line
            return None
        counts = [None if one is None else one.stores(*flags) for one in chain.values()]
        known = [count for count in counts if count is not None]
        return sum(known) if known and again is None and len(known) == len(counts) else None

    def _chain(self) -> tuple[dict[int, OpenSequence | None], int | None]:
        """Return the instruction buffers that the packet runs, in order, with their sequences.

        A sequence that is not known is None. The second result is the first buffer that is
        triggered a second time, or None if the chain ends.
        """
        chain: dict[int, OpenSequence | None] = {}
        buffer = self._buffer()
        while buffer is not None and buffer not in chain:
            name = self._before.names.get(buffer) if buffer not in self._before.apart else None
            chain[buffer] = sequence = self._sequence_at(name)
            buffer = sequence.then() if sequence is not None else None
        return chain, buffer

    def _check_chain(self) -> None:
        """Warn of instruction buffers that trigger each other in a circle.

        The array refuses such a circle.
        """
        chain, again = self._chain()
        if again is not None:
            where = [f"{one} ('{self._before.names[one].text}')" for one in chain]
            what = f"buffers {', '.join(where)} trigger each other"
            if len(chain) == 1:
                what = f"buffer {where[0]} triggers itself"
            message = f"the {what} without end; the array refuses that"
            self.context.warn(message, self.bound.nodes["ib"], name="buffer")
