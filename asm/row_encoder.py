"""Encodes instructions without the parser: from the texts of their operands to words.

All encoders are derived from the tables. A `RowEncoder` is for one row, or for one alternative of a
pseudo-instruction. It has one operand encoder (`asm/operand_encoder.py`) for each operand that a
source writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from struct import unpack

from macaw.asm.expressions import NotYet
from macaw.asm.instructions import template
from macaw.asm.operand_encoder import (
    LANE,
    NOWHERE,
    WORD_BYTES,
    BitsByText,
    OperandEncoder,
    OperandUse,
    WordPlace,
    is_name,
)
from macaw.asm.operands import AnyOperand, bind, choose, value_of
from macaw.asm.syntax import Here, Mistake, Name, Node, Number, Statement, transform, walk
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Core
from macaw.isa.rows import Alternative, Instruction, Operand, Pseudo, Row
from macaw.isa.typed_records import NamedTuple


@dataclass(frozen=True, eq=False, slots=True)
class RowEncoder:
    """Encodes an instruction of a table row from the texts of the operands.

    The instruction has `words` words; `base` has their constant bits. `encode` returns the words as
    one number, with the first word in the lowest bits. It raises `KeyError` or `ValueError` for
    texts whose meaning is not certain. `encode` is None if the bits of an operand depend on the
    address of the word, or if there are too many operands. If `chooses`, the value of an operand
    selects this encoding among several, so the value must be known.
    """

    row: Row
    words: int
    base: int
    encoders: tuple[OperandEncoder, ...]
    encode: Callable[[str], int] | None
    chooses: bool  # whether an operand's value selects this alternative, so it must be known

    def encode_partly(self, texts: Sequence[str]) -> tuple[int, OperandEncoder, str, str] | None:
        """Return (known bits, encoder, modifier, symbol) for operands with exactly one symbol.

        The encoder and the modifier (`%hi`, `%lo` or empty) belong to the operand with the symbol.
        Return None if the texts do not fit the row.
        """
        if len(texts) != len(self.encoders) or self.chooses:
            return None
        bits, waiting = self.base, None
        for encoder, text in zip(self.encoders, texts, strict=True):
            may_wait = waiting is None
            known = None if may_wait and encoder.needs_address else encoder.certain_bits(text)
            if known is not None:
                bits |= known
                continue
            request = encoder.symbol(text) if may_wait else None
            if request is None:
                return None
            beside, modifier, name = request
            bits |= beside
            waiting = encoder, modifier, name
        return None if waiting is None else (bits, *waiting)


def _encoder(base: int, encoders: Sequence[OperandEncoder]) -> Callable[[str], int] | None:
    if len(encoders) == 0:
        return partial(_encode_none, base)
    if len(encoders) == 1:
        return partial(_encode_one, base, encoders[0].bits)
    if len(encoders) == 2 and encoders[1].base is not None:
        return _bracketed(base, encoders[0].bits, encoders[1].words, encoders[1].base.closed)
    if len(encoders) == 2:
        return _two(base, encoders[0].bits, encoders[1].bits)
    if len(encoders) == 3:
        return _three(base, encoders[0].bits, encoders[1].bits, encoders[2].bits)
    return None


def _shares(encoders: Sequence[OperandEncoder]) -> bool:
    """Return whether a `LabelEncoder` can encode an instruction with these operands.

    The last operand must depend on a distance, and no other operand may depend on an address.
    """
    return (
        0 < len(encoders) <= 3
        and encoders[-1].needs_address
        and encoders[-1].by_distance
        and not any(encoder.needs_address for encoder in encoders[:-1])
    )


def _choice(rows: Sequence[Row], plans: Sequence[RowEncoder]) -> Choice | None:
    """Return the `Choice` of a mnemonic whose encoding a number selects, such as `li`, or None.

    `rows` are the mnemonic's table rows, `plans` the encoders of their alternatives. The result is
    (index of the operand with the number, function that returns the words).
    """
    row = rows[0]
    if len(rows) != 1 or not isinstance(row, Pseudo) or not row.choose:
        return None
    if len(plans) != len(row.alternatives):
        return None
    written = [operand.name for operand in row.operands if not operand.inside]
    place, conditions = written.index(row.choose), [item.when for item in row.alternatives]
    choices = list(zip(plans, conditions, strict=True))
    others = [other for other in range(len(written)) if other != place]

    def encode(texts: Sequence[str], value: int) -> list[int] | None:
        if len(texts) != len(written):
            return None
        plan = plans[-1]
        for chosen, condition in choices:
            if condition is None or condition(value):
                plan = chosen
                break
        encoders = plan.encoders
        word = encoders[place].bits_of_number(value)
        if word is None:
            return None
        word |= plan.base
        for other in others:
            known = encoders[other].certain_bits(texts[other])
            if known is None:
                return None
            word |= known
        return words_of(word, plan.words)

    return place, encode


def bytes_with_number(
    bits: int, encoder: OperandEncoder, modifier: str, size: int, number: int
) -> bytes | None:
    """Return the `size` bytes of an instruction in which one operand has the value `number`.

    `bits` are all other bits of the instruction. `encoder` and `modifier` belong to this operand.
    Return None if the number does not fit.
    """
    known = None if encoder.needs_address else encoder.bits_of_address(modifier, number, 0)
    return None if known is None else (bits | known).to_bytes(size, "little")


def bytes_of_choice(
    encode: Callable[[Sequence[str], int], list[int] | None],
    texts: Sequence[str],
    size: int,
    number: int,
) -> bytes | None:
    """Return the bytes of an instruction with several encodings, of which `number` selects one.

    `encode` is the function of the instruction's `Choice`, and `texts` are the texts of the
    operands. Return None if the number does not fit, or if the selected encoding does not have
    `size` bytes.
    """
    words = encode(texts, number)
    if words is None or WORD_BYTES * len(words) != size:
        return None
    return b"".join([word.to_bytes(WORD_BYTES, "little") for word in words])


def words_of(bits: int, count: int) -> list[int]:
    """Return the `count` words in `bits`; the first word is in the lowest bits."""
    if count == 1:
        return [bits]
    return list(unpack(f"<{count}I", bits.to_bytes(WORD_BYTES * count, "little")))


def _label_encoder(plan: RowEncoder) -> LabelEncoder | None:
    """Return the `LabelEncoder` for a row with the encoder `plan`; None if it cannot have one."""
    base, encoders = plan.base, plan.encoders
    if plan.chooses or not _shares(encoders):
        return None
    if len(encoders) == 1:

        def split(text: str) -> tuple[int, str]:
            return base, text

    elif len(encoders) == 2:
        first = encoders[0].bits

        def split(text: str) -> tuple[int, str]:
            one, name = text.split(",")
            return base | first[one], name

    else:
        first, second = encoders[0].bits, encoders[1].bits

        def split(text: str) -> tuple[int, str]:
            one, two, name = text.split(",")
            return base | first[one] | second[two], name

    return split, encoders[-1], plan.words


def _encode_none(base: int, text: str) -> int:
    if text and not text.isspace():
        raise KeyError(text)
    return base


def _encode_one(base: int, first: BitsByText, text: str) -> int:
    return base | first[text]


def _two(base: int, first: BitsByText, second: BitsByText) -> Callable[[str], int]:
    def encode(text: str) -> int:
        one, two = text.split(",")
        return base | first[one] | second[two]

    return encode


def _bracketed(
    base: int, first: BitsByText, second: BitsByText, inner: BitsByText
) -> Callable[[str], int]:
    def encode(text: str) -> int:
        one, two = text.split(",")
        outer, _, within = two.partition("(")
        return base | first[one] | second[outer] | inner[within]

    return encode


def _three(
    base: int, first: BitsByText, second: BitsByText, third: BitsByText
) -> Callable[[str], int]:
    def encode(text: str) -> int:
        one, two, three = text.split(",")
        return base | first[one] | second[two] | third[three]

    return encode


def _row_encoder(
    core: Core, row: Row, alternative: Alternative | None, shared: dict[object, OperandEncoder]
) -> RowEncoder | None:
    """Return the encoder of a row, or of one alternative of a pseudo-instruction.

    Return None if lines of the row are never simple. `shared` has the operand encoders made so far.
    """
    if any(_may_be_missing(operand) for operand in row.operands):
        return None
    base, uses, words = 0, {operand.name: list[OperandUse]() for operand in row.operands}, 1
    if isinstance(row, Instruction):
        if row.format.size != WORD_BYTES:
            return None
        base = row.match
        for operand in row.operands:
            uses[operand.name].append(OperandUse(0, operand, Name(-1, -1, "$" + operand.name)))
    else:
        assert alternative is not None
        words = len(alternative.lines)
        for number, line in enumerate(alternative.lines):
            bits = _enter_line(core, row, line, number, uses)
            if bits is None:
                return None
            base |= bits << LANE * number
    accepts = None
    if isinstance(row, Pseudo) and row.choose:
        accepts = partial(_is_chosen, row, alternative)
    inner = {operand.inside: operand for operand in row.operands if operand.inside}

    def encoder(operand: AnyOperand) -> OperandEncoder:
        brackets = inner.get(operand.name)
        within = None if brackets is None else encoder(brackets)
        chosen = accepts if isinstance(row, Pseudo) and operand.name == row.choose else None
        result = OperandEncoder(operand, uses[operand.name], within, chosen)
        if isinstance(operand, Operand):
            # Rows of a format share their fields, and so the bits of known texts.
            key = operand.field, operand.name, within
            result = shared.setdefault(key, result)
        return result

    encoders = tuple(encoder(operand) for operand in row.operands if not operand.inside)
    encode = (
        None if any(encoder.needs_address for encoder in encoders) else _encoder(base, encoders)
    )
    return RowEncoder(row, words, base, encoders, encode, bool(accepts))


def _may_be_missing(operand: AnyOperand) -> bool:
    """Return whether a source may omit an operand: a flag, or an operand `name=value`."""
    return operand.kind.optional or (isinstance(operand, Operand) and operand.named)


def _is_chosen(row: Pseudo, alternative: Alternative | None, value: int) -> bool:
    for other in row.alternatives:
        if other.when is None or other.when(value):
            return other is alternative
    return row.alternatives[-1] is alternative


def _enter_line(
    core: Core, row: Pseudo, text: str, number: int, uses: Mapping[str, list[OperandUse]]
) -> int | None:
    """Record in `uses`, by operand, the fields of an expansion's line that depend on operands.

    `text` is the line in the table, `number` the index of its word. Return the line's constant
    bits; None if this module cannot encode the line.
    """
    line = template(text)
    assert line.head is not None

    def sample(item: Node) -> Node | None:
        for operand in row.operands:
            if is_name(item, "$" + operand.name):
                words = operand.kind.words() if operand.kind.by_name else ()
                return Name(-1, -1, words[0]) if words else Number(-1, -1, 0)
        return None

    example = transform(line, sample)
    assert isinstance(example, Statement)  # as `line` is: only its operands change
    try:
        inner = choose(core.rows[line.head.text], example)
        assert isinstance(inner, Instruction)
        if inner.format.size != WORD_BYTES or any(_may_be_missing(x) for x in inner.operands):
            return None
        nodes = bind(inner, line).nodes
        bits = inner.match
        for operand in inner.operands:
            node = nodes.get(operand.name)
            names = [x.text[1:] for x in walk(node or NOWHERE) if isinstance(x, Name)]
            used = [name for name in names if name in uses]
            if node is None:
                bits |= operand.field.insert(operand.default or 0)
            elif not used:
                if any(isinstance(x, Here) for x in walk(node)):
                    return None
                bits |= operand.field.insert(value_of(operand, node, WordPlace()))
            elif len(used) == 1:
                uses[used[0]].append(OperandUse(number, operand, node))
            else:
                return None
    except (Mistake, NotYet):
        return None
    return bits


def _shape(row: Row) -> tuple[bool, ...]:
    """Return, for each operand that a source writes, whether it has brackets, as in `imm(rs1)`."""
    inner = {operand.inside for operand in row.operands if operand.inside}
    return tuple(operand.name in inner for operand in row.operands if not operand.inside)


def _is_doubtful(row: Row, earlier: Sequence[Row]) -> bool:
    """Return whether a simple line of this row could also be a line of an `earlier` row."""
    return any(
        _shape(other) == _shape(row) and any(not operand.kind.by_name for operand in other.operands)
        for other in earlier
    )


def _row_encoders(
    core: Core, rows: Sequence[Row], shared: dict[object, OperandEncoder]
) -> tuple[RowEncoder, ...]:
    encoders: list[RowEncoder | None] = []
    certain = (row for place, row in enumerate(rows) if not _is_doubtful(row, rows[:place]))
    for row in certain:
        alternatives = row.alternatives if isinstance(row, Pseudo) else (None,)
        encoders += [_row_encoder(core, row, alternative, shared) for alternative in alternatives]
    return tuple(plan for plan in encoders if plan is not None)


# For an instruction whose last operand is a label, as of a branch, `call` and `la`: a function that
# returns the known bits and the text of the label, the encoder of the label's distance, and the
# number of words. The function raises as `RowEncoder.encode`.
LabelEncoder = tuple[Callable[[str], tuple[int, str]], OperandEncoder, int]


# For a row whose alternative a number chooses (`li`): the index of the operand with this number,
# and a function from the texts of all operands and the number to the words. The function returns
# None if the words are not certain.
Choice = tuple[int, Callable[[Sequence[str], int], list[int] | None]]


class Entry(NamedTuple):
    """The encoders of a mnemonic.

    `others` are for lines without symbols; they do not include the encoder in `EncoderTable.first`.
    `with_symbol` are for lines with one symbol. `choice` is for a mnemonic whose encoding a number
    selects.
    """

    others: tuple[RowEncoder, ...]  # besides the one in `EncoderTable.first`
    with_symbol: tuple[RowEncoder, ...]
    choice: Choice | None = None  # if not None, there is no other encoder


UNKNOWN = Entry((), ())


class EncoderTable(dict[str, Entry]):
    """The encoders of a core by mnemonic. An entry is created when it is first needed.

    `first` has the `encode` of each mnemonic's first encoder, if that encoder makes one word.
    `with_label` has a `LabelEncoder` of each mnemonic whose first encoder is for a label.
    """

    def __init__(self, core: Core | None, excluded: Sequence[str] = ()) -> None:
        self._core = core
        self._excluded = excluded
        self._shared: dict[object, OperandEncoder] = {}
        self.first: dict[str, Callable[[str], int]] = {}
        self.with_label: dict[str, LabelEncoder] = {}

    def __missing__(self, mnemonic: str) -> Entry:
        rows = self._core.rows.get(mnemonic) if self._core is not None else None
        if self._core is None or rows is None or mnemonic in self._excluded:
            return UNKNOWN
        encoders = _row_encoders(self._core, rows, self._shared)
        choice = _choice(rows, encoders)
        if choice is not None:
            entry = self[mnemonic] = Entry((), (), choice)
            return entry
        first = encoders[0].encode if encoders and encoders[0].words == 1 else None
        if first is not None:
            self.first[mnemonic] = first
        others = encoders[1:] if first is not None else encoders
        entry = self[mnemonic] = Entry(
            tuple(plan for plan in others if plan.encode is not None),
            tuple(plan for plan in encoders if not plan.chooses and plan.encoders),
        )
        use = _label_encoder(encoders[0]) if encoders else None
        if use is not None:
            self.with_label[mnemonic] = use
        return entry


NO_ENCODERS = EncoderTable(None)


@lru_cache(maxsize=64)
def encoder_table(core: Core, excluded: tuple[str, ...]) -> EncoderTable:
    """Return the encoders of a core, except for `excluded` mnemonics.

    All programs of this process share the table.
    """
    return EncoderTable(core, excluded)
