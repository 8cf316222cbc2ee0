"""The directives of instruction sequences: `.seq`, `.loop`, `.types`, `.step`, ..., `.endseq`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import prod

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.directive import wrong_operands
from macaw.asm.expressions import Address
from macaw.asm.forms.pe.image import RowImage
from macaw.asm.forms.pe.sequence_members import (
    MEMBERS,
    MemberValue,
    check_words,
    numbers,
    written_target,
)
from macaw.asm.forms.pe.writers import Move, move, stores
from macaw.asm.layout import Area
from macaw.asm.operands import BoundOperands, bind, value_of
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Datum, Definition
from macaw.asm.syntax import (
    AlreadyReported,
    Mistake,
    Name,
    Named,
    Node,
    Statement,
)
from macaw.isa import codec
from macaw.isa.kinds import Immediate
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Structure
from macaw.isa.pe import (
    ACTIVATIONS,
    BUFFERS,
    DEFAULT,
    ENTRY_OF,
    INSTRUCTION_BYTES,
    OPERAND_TYPES,
    RECORD_SIZE,
    REQUANTISE,
    SEQUENCE,
    SEQUENCE_ALIGN,
    SEQUENCE_LENGTH,
    SHORT_PIPELINE,
    STATES,
    STEP,
    STRIDE,
    STRIDE_KIND,
    THEN,
    TYPE_MEMBERS,
    TYPES,
    available,
    strided,
)
from macaw.isa.rows import Instruction

_WINDOW = STATES.index("sw")
_LOOP = ("inner", "outer")
_APART = ("pe", "cluster")
_OPTIONS = {".stride": _APART, ".types": TYPE_MEMBERS}  # by directive; others: `_LOOP`
_USE = {STEP.name: "to step", STRIDE.name: "for a stride"}
_BUFFER = Immediate((BUFFERS - 1).bit_length())
_HEADER = tuple(
    member.name
    for member in SEQUENCE.members
    if member.name not in ("count", "then", "records", *_LOOP)
)


@dataclass(slots=True)
class _Item:
    """An instruction (`row`) of the sequence, its operands (`bound`), and the labels before it."""

    context: StatementContext
    row: Instruction
    bound: BoundOperands
    labels: list[Definition]


@dataclass(slots=True)
class _Record:
    """A `.step`, `.stride` or `.types` line: its target (operand, or `.types`) and its options."""

    kind: Structure
    context: StatementContext
    target: Node
    options: dict[str, MemberValue]


class OpenSequence:
    """An instruction sequence. It collects the lines from its `.seq` line to `.endseq`.

    After `.endseq`, the methods of the object give facts about the sequence.
    """

    def __init__(self, image: RowImage, context: StatementContext) -> None:
        self._image = image
        self.context = context  # the context of `.seq`
        self.name = ""
        self.is_incomplete = False  # a line is wrong, so something may be missing
        self.label: Definition | None = None
        self._header: dict[str, MemberValue] = {}
        self._then: MemberValue | None = None
        self._records: list[_Record] = []
        self._items: list[_Item] = []

    def begin(self, statement: Statement) -> None:
        """Evaluate the operands of `.seq` and store their values. Raises `Mistake`."""
        try:
            self._begin(statement)
        except Mistake:
            self.is_incomplete = True
            raise

    def _begin(self, statement: Statement) -> None:
        assert statement.head is not None
        context = self.context
        plain = [item for item in statement.operands if not isinstance(item, Named)]
        if plain and isinstance(plain[0], Name):
            self.name = plain[0].text
            with context.spoil_on_error(plain[0]):
                self.label = context.new_symbol(plain[0])
        if len(plain) != 1 or self.label is None:
            raise wrong_operands(statement, ".seq NAME, state=sq, pipeline=2, ...")
        named = context.named_operands(statement.operands, _HEADER, statement.head)
        self._header = {
            x: MemberValue(context, context.fold(item.value)) for x, item in named.items()
        }
        check_words(self._header)
        state = self._header.get("state")
        sliding = state and state.value("state", MEMBERS["state"].legal) == _WINDOW
        if state and sliding and "window" not in named:
            context.warn(
                "state=sw without window=: the array refuses a window of no entries",
                state.node,
                name="window",
            )

    def unfinished(self) -> Mistake:
        """Return the error for a missing `.endseq`, and mark the sequence as incomplete."""
        self._mark_incomplete()
        named = f" '{self.name}'" if self.name else ""
        return Mistake(f"the sequence{named} has no .endseq", (-1, -1))

    def _mark_incomplete(self) -> None:
        self.is_incomplete = True
        if self.label is not None:
            self.label.is_bad = True
        for item in self._items:
            for label in item.labels:
                label.is_bad = True

    @property
    def _pipeline(self) -> int:
        kind = MEMBERS["pipeline"].legal
        value = self._header.get("pipeline")
        return value.value("pipeline", kind) if value else MEMBERS["pipeline"].default

    def add_option(self, context: StatementContext, statement: Statement) -> None:
        """Add a `.loop`, `.types`, `.step`, `.stride` or `.then` line. Raises `Mistake`."""
        head = statement.head
        assert head is not None
        plain = [item for item in statement.operands if not isinstance(item, Named)]
        if head.text == ".then":
            self._then_buffer(context, statement, plain)
            return
        names = _OPTIONS.get(head.text, _LOOP)
        named = context.named_operands(statement.operands, names, head)
        values = {
            key: MemberValue(context, context.fold(item.value)) for key, item in named.items()
        }
        if head.text == ".loop":
            if plain or not values:
                raise wrong_operands(statement, ".loop inner=1, outer=1")
            if any(key in self._header for key in _LOOP):
                raise Mistake("the sequence has two .loop", head)
            self._header |= values
            return
        if head.text == ".types":
            self._add_types(context, statement, values)
            return
        if len(plain) != 1 or not values:
            usage = " ".join(f"{name}=0," for name in names).rstrip(",")
            raise wrong_operands(statement, f"{head.text} MNEMONIC[N].OPERAND, {usage}")
        if head.text == ".stride":
            self._records.append(_Record(STRIDE, context, plain[0], values))
            return
        if not self.is_incomplete and self._pipeline == SHORT_PIPELINE:
            raise Mistake(
                ".step needs the stages SU and WB", head, "say pipeline=4 in the .seq line"
            )
        self._records.append(_Record(STEP, context, plain[0], values))

    def _add_types(
        self, context: StatementContext, statement: Statement, values: dict[str, MemberValue]
    ) -> None:
        assert statement.head is not None
        if len(values) != len(statement.operands) or not values:
            raise wrong_operands(
                statement, ".types weights=int8, activations=int8, requantise=shift"
            )
        if any(record.kind is TYPES for record in self._records):
            raise Mistake("the sequence has two .types", statement.head)
        self._records.append(_Record(TYPES, context, statement.head, values))
        check_words(values)
        has = available(self._image.state.config)
        for name in OPERAND_TYPES:
            if name in values:
                legal = MEMBERS[name].legal
                element = legal.format(values[name].value(name, legal))
                if element not in (DEFAULT, *has):
                    raise Mistake(
                        f"{name}: the array has no {element}",
                        values[name].node,
                        f"it has {', '.join(has)}; pe.widest says which",
                    )

    def _then_buffer(
        self, context: StatementContext, statement: Statement, plain: list[Node]
    ) -> None:
        assert statement.head is not None
        named = context.named_operands(statement.operands, ("ib",), statement.head)
        nodes = [*plain, *(item.value for item in named.values())]
        if len(nodes) != 1:
            raise wrong_operands(statement, ".then ib=N")
        if self._then is not None:
            raise Mistake("the sequence has two .then", statement.head)
        self._then = MemberValue(context, context.fold(nodes[0]))

    def add(self, context: StatementContext, statement: Statement, row: Instruction) -> None:
        """Add an instruction. Raises `Mistake`."""
        assert statement.head is not None
        labels = context.state.symbols.take_pending()
        bound = None
        try:
            bound = bind(row, statement)
            for name, node in bound.nodes.items():
                kind = bound.operand(name).kind
                if kind.by_name:
                    value_of(bound.operand(name), node, context, row)
                else:
                    bound.nodes[name] = context.fold(node)
        except Mistake:
            bound = None
            raise
        finally:
            if bound is None:  # a wrong instruction counts, too
                bound = BoundOperands(row, {})
            self._items.append(_Item(context, row, bound, labels))
        if len(self._items) == SEQUENCE_LENGTH + 1:
            raise Mistake(
                f"a sequence holds at most {SEQUENCE_LENGTH} instructions", statement.head
            )

    def finish(self, context: StatementContext, statement: Statement, table: SequenceTable) -> None:
        """Append the sequence to the image, and enter it into `table`. Raises `Mistake`."""
        assert statement.head is not None
        if not self._items and not self.is_incomplete:
            self._mark_incomplete()
            raise Mistake("the sequence is empty", statement.head)
        if not 1 <= len(self._items) <= SEQUENCE_LENGTH:  # reported already
            self._mark_incomplete()
            return
        area = self._image.sequences
        here = context.at_end(area)
        here.align(SEQUENCE_ALIGN)
        here = here.at_end()
        self.context.at_end(area).mark()  # errors of the header belong to `.seq`
        start = area.size
        body = start + SEQUENCE.size + len(self._records) * RECORD_SIZE
        size = body - start + INSTRUCTION_BYTES * len(self._items)
        if self.label is not None:
            self.label.place(area, start, Datum("sequence", size))
        table.add(self, area, start)
        here.emit_later(body - start, self._head_bytes)
        for item in self._items:
            place = item.context.at_end(area)
            for label in item.labels:
                label.place(area, area.size, None)
            place.mark()
            place.emit_later(INSTRUCTION_BYTES, _instruction(place, item))

    def _head_bytes(self) -> bytes:
        """Return the bytes of the sequence's header and records; report wrong values."""
        values = {"count": len(self._items), "records": len(self._records)}
        values |= numbers(self._header)
        if self._then is not None:
            with self._then.context.state.report.catching(self._then.context.line):
                values["then"] = THEN + self._then.value("ib", _BUFFER)
        given: set[tuple[str, int, int]] = set()
        return codec.pack(SEQUENCE, values) + b"".join(
            self._record_bytes(record, given) for record in self._records
        )

    def _record_bytes(self, record: _Record, given: set[tuple[str, int, int]]) -> bytes:
        """Return the bytes of a record, and add its kind and its operand to `given`."""
        if record.kind is TYPES:
            return codec.pack(TYPES, numbers(record.options))
        values, members = {}, {member.name: member for member in record.kind.members}
        with record.context.state.report.catching(record.context.line):
            place, entry = self._target(record)
            if (record.kind.name, place, entry) in given:
                raise Mistake(f"this operand has two .{record.kind.name}", record.target)
            given.add((record.kind.name, place, entry))
            for name, value in record.options.items():
                values[name] = value.value(name, members[name].legal)
            if record.kind is STRIDE:
                self._check_strided(record, place, entry)
                entry += STRIDE_KIND
            values["instruction"], values["operand"] = place, entry
        if "operand" not in values:  # its error is reported
            return bytes(RECORD_SIZE)
        return codec.pack(record.kind, values)

    def _check_strided(self, record: _Record, place: int, entry: int) -> None:
        """Raise `Mistake` if the operand (`place`, `entry`) must have one value for all PEs."""
        item = self._items[place]
        try:
            values = _values(item.context, item)
        except (Mistake, AlreadyReported):  # reported at its own line
            return
        is_known = all(x.name in values or x.default is not None for x in item.row.operands)
        if is_known and entry not in strided(item.row, {"src": 0} | values):
            raise Mistake(
                "this operand is the same in all PEs",
                record.target,
                "those that differ are places in the input buffer and in the output queue",
            )

    def _target(self, step: _Record) -> tuple[int, int]:
        """Return (instruction, entry), two numbers for the operand that the line `step` names.

        `mac[1].base` names the operand `base` of the second `mac`. `instruction` is the index of
        this `mac`; `entry` is 0 for base and src, 1 for acc and dst. Raises `Mistake`.
        """
        mnemonic, turn, operand = written_target(step.context, step.target)
        places = [x for x, item in enumerate(self._items) if item.row.mnemonic == mnemonic]
        if self.is_incomplete and not 0 <= (turn or 0) < len(places):
            raise AlreadyReported
        if not places:
            mnemonics = dict.fromkeys(item.row.mnemonic for item in self._items)
            hint = did_you_mean(mnemonic, mnemonics) or f"it has {', '.join(mnemonics)}"
            raise Mistake(f"the sequence has no instruction '{mnemonic}'", step.target, hint)
        if turn is None and len(places) > 1:
            hint = f"write {mnemonic}[0].{operand} to {mnemonic}[{len(places) - 1}].{operand}"
            raise Mistake(f"the sequence has {len(places)} of {mnemonic}", step.target, hint)
        if not 0 <= (turn or 0) < len(places):
            raise Mistake(
                f"{mnemonic}[{turn}] is out of range, 0 to {len(places) - 1}", step.target
            )
        place = places[turn or 0]
        names = [x.name for x in self._items[place].row.operands if x.name in ENTRY_OF]
        if operand not in names:
            hint = did_you_mean(operand, names) or f"it has {', '.join(names)}"
            raise Mistake(
                f"{mnemonic} has no operand '{operand}' {_USE[step.kind.name]}",
                step.target,
                hint,
            )
        return place, ENTRY_OF[operand]

    def config_data(self) -> dict[str, tuple[str, bool]]:
        """Return {segment type: (option that needs it, whether the sequence has this option)}.

        The types are scales and table. A config needs a segment of the type with the option, such
        as `activation=table`, and none without it. Raises `AlreadyReported` for a wrong word.
        """
        types = self._types
        uses = {
            "scales": ("requantise", REQUANTISE.index("scale"), types),
            "table": ("activation", ACTIVATIONS.index("table"), self._header),
        }
        found = {}
        for kind, (name, choice, values) in uses.items():
            legal = MEMBERS[name].legal
            is_used = name in values and values[name].checked(name, legal) == choice
            option = f"{name}={legal.format(choice)}"
            found[kind] = f".types {option}" if values is types else option, is_used
        return found

    @property
    def _types(self) -> Mapping[str, MemberValue]:
        """The operands of the `.types` line by name; empty without such a line."""
        return next((x.options for x in self._records if x.kind is TYPES), {})

    @property
    def names_types(self) -> bool:
        """Whether the sequence names the element type of its weights or activations."""
        return any(name in self._types for name in OPERAND_TYPES)

    def element(self, name: str) -> str:
        """Return the element type of `name`. Raises `AlreadyReported` if `.types` is wrong."""
        legal, value = MEMBERS[name].legal, self._types.get(name)
        word = DEFAULT if value is None else legal.format(value.checked(name, legal))
        return str(self._image.state.config["pe.element"]) if word == DEFAULT else word

    def then(self) -> int | None:
        """Return the number of the instruction buffer that the sequence triggers, or None.

        The result is also None if the `.then` line is wrong. Valid after the layout.
        """
        if self._then is None:
            return None
        try:
            return self._then.value("ib", _BUFFER)
        except Mistake:  # reported at its own line
            return None

    @property
    def continues(self) -> bool:
        """Whether another loop iteration or another sequence may follow the last instruction."""
        return self._then is not None or any(name in self._header for name in _LOOP)

    def queue_moves(self) -> list[Move]:
        """Return the effects of the instructions on the output queue. Valid after the layout.

        Raises `Mistake` for a wrong operand, and `AlreadyReported` if a line of the sequence is
        wrong.
        """
        if self.is_incomplete:
            raise AlreadyReported
        value = self._header.get("reduction")
        reduction = value.value("reduction", MEMBERS["reduction"].legal) if value else 0
        queue_moves = [
            move(item.row, _values(item.context, item), reduction) for item in self._items
        ]
        return [one for one in queue_moves if one is not None]

    def stores(self, shift: bool, last: bool) -> int | None:
        """Return the number of stores of one run with these flags; None if it is not known.

        If results are streamed, steps may change from iteration to iteration which are stored.
        """
        loops = {name: self._header[name] for name in _LOOP if name in self._header}
        try:
            steps = [
                written_target(x.context, x.target)[2] for x in self._records if x.kind is STEP
            ]
            if shift and last and not {"acc", "src", "dst"}.isdisjoint(steps):
                return None
            passes = (value.value(name, MEMBERS[name].legal) for name, value in loops.items())
            return prod(passes) * len(stores(self.queue_moves(), shift, last))
        except (Mistake, AlreadyReported):
            return None


class SequenceTable:
    """The finished sequences of a PE row, by the area and the offset of their headers."""

    def __init__(self) -> None:
        self._by_place: dict[tuple[int, int], OpenSequence] = {}  # the area's id, the offset

    def values(self) -> Iterable[OpenSequence]:
        """Return all sequences, in the order of the source."""
        return self._by_place.values()

    def add(self, sequence: OpenSequence, area: Area, offset: int) -> None:
        """Add a sequence whose header is at `offset` of an area."""
        self._by_place[id(area), offset] = sequence

    def at(self, symbol: Definition) -> OpenSequence | None:
        """Return the sequence that begins at a symbol; None if there is none."""
        value = symbol.value
        if not isinstance(value, Address):
            return None
        return self._by_place.get((id(value.area), value.offset))


def _instruction(context: StatementContext, item: _Item) -> Callable[[], bytes]:
    """Return a function that the caller calls after the layout to get the instruction's bytes."""

    def make() -> bytes:
        word = codec.encode(item.row, _values(context, item))
        return word.to_bytes(item.row.format.size, "little")

    return make


def _values(context: StatementContext, item: _Item) -> dict[str, int]:
    """Return the values of an instruction's operands by name. Raises `Mistake` and `NotYet`."""
    operands = {operand.name: operand for operand in item.row.operands}
    return {
        name: value_of(operands[name], node, context, item.row)
        for name, node in item.bound.nodes.items()
    }
