"""Writes the words of a stream's blocks from the tiling in `macaw.lowering.fim.stream`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from macaw.isa.fim_circuit import (
    ARRANGEMENT_NAMES,
    COLUMN_BYTES,
    COLUMNS,
    DOT,
    ELEMENTWISE,
    FUNCTION_NAMES,
    FUNCTIONS,
    GIO,
    MUL,
    OUTER,
    SLOTS,
)
from macaw.lowering.fim.block_program import (
    ACT,
    COMPUTE,
    COMPUTE_ALONE,
    FROM_RZ,
    LOCK,
    MOVE,
    OPERATE,
    POINT,
    PULL,
    PUSH,
    READ,
    STORE,
    UNLOCK,
    Block,
    Item,
    Loop,
    Repeat,
    Word,
)
from macaw.lowering.fim.stream import StreamTiling

BIAS = 2  # the index in `StreamTiling.modes` of the mode that adds a bias
Pull = tuple[Word, ...]  # a word that pulls a column, and the words before it


def program(stream: StreamTiling) -> list[Block]:
    """Return the blocks of a stream, in the order of their numbers."""
    return [
        Block(
            tuple(stream.bank(block, number) for number in range(stream.banks)),
            (*_setup(stream, block), *_rounds(stream, block)),
            stream.modes,
            stream.last_row,
        )
        for block in range(stream.blocks)
    ]


def _setup(stream: StreamTiling, block: int) -> Iterator[Item]:
    yield Word(f"mmr op, {FUNCTION_NAMES[MUL]}")
    yield Word(f"mmr arrange, {ARRANGEMENT_NAMES[stream.layout]}")
    yield Word(f"mmr format, {stream.shape.numbers.name}")
    yield Word("mmr rz_step, 1 # slices of Rz one after the other")
    if stream.integers.shifts:
        yield Word(f"mmr rz_shift, {stream.integers.shifts[0]}")
    if stream.link.takes_pushed:
        return
    first, number = _first(stream, block), stream.link.buffer + block
    end = first + stream.columns_of(block)
    low, high = (f"{stream.address(column):#x}" for column in (first, end))
    yield Word(f"mmr b{number}_low, {low}", POINT, value=number, start=first, end=first)
    yield Word(f"mmr b{number}_high, {high}")
    text = f"mmr b{number}_end, {high} # the host has filled it"
    yield Word(text, POINT, value=number, end=end)


def _first(stream: StreamTiling, block: int) -> int:
    return stream.offset(stream.buffer(block), 0) // COLUMN_BYTES


def _rounds(stream: StreamTiling, block: int) -> Iterator[Item]:
    first = _first(stream, block)
    for number in range(stream.rounds):
        if number:
            low, buffer = f"{stream.address(first):#x}", stream.link.buffer + block
            again = Word(f"mmr b{buffer}_start, {low}", POINT, value=buffer, start=first)
            yield from _with_lock(buffer, again) if stream.link.takes_pushed else (again,)
        if stream.windows is None:
            yield _pull(stream, block)
            pulls: Iterator[Pull] = repeat((_pull(stream, block),))
            yield Repeat(stream.items, tuple(_item(stream, block, number, "item", pulls)), "item")
        else:
            pulls = _pulls_of_windows(stream, block)
            yield from next(pulls)
            for item in range(stream.items):
                yield from _item(stream, block, number, str(item), pulls)


def _with_lock(buffer: int, word: Word) -> Iterator[Item]:
    """Yield the lock of a buffer, then `word`, then the unlock of the buffer."""
    yield Word(f"lock {buffer}", LOCK, value=buffer)
    yield word
    yield Word(f"unlock {buffer}", UNLOCK, value=buffer)


def _pull(stream: StreamTiling, block: int) -> Word:
    number = stream.link.buffer + block
    return Word(f"pull gio, {number}, all", PULL, value=number, register=GIO, every=True)


def _pulls_of_windows(stream: StreamTiling, block: int) -> Iterator[Pull]:
    """Yield the words of each pull of a round (a pass of A), for an A that consists of windows.

    The words are `pull`, and before it, if the pull does not continue at the next column, a word
    that moves the buffer's start. The last pull is of a column that the block ignores.
    """
    buffer, first, there = stream.link.buffer + block, _first(stream, block), 0
    for column in stream.pulled_columns(block):
        start = first + column
        move = Word(
            f"mmr b{buffer}_start, {stream.address(start):#x}", POINT, value=buffer, start=start
        )
        yield (_pull(stream, block),) if column == there else (move, _pull(stream, block))
        there = column + 1
    yield (_pull(stream, block),)


def _item(
    stream: StreamTiling, block: int, number: int, item: str, pulls: Iterator[Pull]
) -> Iterator[Item]:
    """Yield the words that compute an item of round `number` and store or push its results.

    A round is one pass of A past the banks. An item is the part of C that a bank has in register Rz
    at once. `item` is its number, as text for the assembler. `pulls` has the words of the round's
    pulls, starting with the second pull.
    """
    slot = _slot(stream, stream.high * stream.wide)  # rz_slot after a step along k
    first = stream.row + number * stream.depth
    unrolled, looped = stream.loop_rows
    if stream.windows is not None:  # rows differ in the moves of the buffer's start
        unrolled, looped = stream.depth, 0
    for deep in range(unrolled):
        yield Word(f"act {first + deep}", ACT)
        yield from _row(stream, deep, slot, pulls)
    if looped:
        yield Word(f"mmr row0, {first + unrolled}")
        body = (Word("act row0, inc=1", ACT), *_row(stream, unrolled, slot, pulls))
        yield Loop(looped, body)
    for deep in range(unrolled + looped, stream.depth):
        yield Word(f"act {first + deep}", ACT)
        yield from _row(stream, deep, slot, pulls)
    if stream.operands:
        yield Word(f"act {stream.row + stream.operand_row + number}", ACT)
    if stream.integers.bias:
        yield from _bias(stream)
        slot = 0
    if stream.after:
        yield from _functions(stream)
        slot = 0
    if slot:
        yield Word("mmr rz_slot, 0")
    if stream.link.pushes is not None:
        for _ in range(stream.slices):
            yield Word(f"push rz, {stream.link.pushes}", PUSH, value=stream.link.pushes)
        if stream.slices % SLOTS:
            yield Word("mmr rz_slot, 0")
        return
    place = f"({number * stream.items} + {item}) * {stream.slices}"
    yield Word(f"act {stream.row + stream.result_row} + {place} / {COLUMNS}", ACT)
    column = f"{place} % {COLUMNS}"
    columns = column if stream.slices == 1 else f"{column} : {column} + {stream.slices}"
    yield Word(f"iosa[{columns}] <- rz", OPERATE, stream.slices, operation=STORE)
    if stream.slices % SLOTS:
        yield Word("mmr rz_slot, 0")


def _row(stream: StreamTiling, deep: int, slot: int, pulls: Iterator[Pull]) -> Iterator[Word]:
    """Yield the words that multiply by the tiles of B in the open row.

    It is row `deep` of those for the present pass of A. A row has tiles for several steps along k.
    The register rz_slot says to which slice of Rz the next sums go. Each step leaves it at `slot`;
    if this is not 0, a word sets it to 0 before the next step. `pulls` has the words of the next
    pulls.
    """
    for step in range(min(stream.deep, stream.steps - deep * stream.deep)):
        at = deep * stream.deep + step
        if at < 2 and stream.steps > 1:
            yield Word(f"mmr accumulate, {at}")
        if slot and at:
            yield Word("mmr rz_slot, 0")
        yield from _step(stream, step, int(at > 0), pulls)


def _bias(stream: StreamTiling) -> Iterator[Item]:
    """Yield the words that add the bias to the sums of an item in Rz, in int8.

    The digits of the bias and their factors are in the open row.
    """
    yield Word(f"mmr arrange, {ARRANGEMENT_NAMES[ELEMENTWISE]}")
    if stream.steps == 1:
        yield Word("mmr accumulate, 1")
    width = stream.patterns  # slices whose digits are side by side
    for factor, digits in stream.integers.factors:
        yield Word(f"rop <- iosa[{factor * width}]", OPERATE, operation=READ)
        for digit in digits:
            yield Word("mmr rz_slot, 0")
            first = digit * width
            columns = str(first) if width == 1 else f"{first}:{first + width}"
            for _ in range(stream.slices // width):
                yield Word(f"rz <- rop * iosa[{columns}]", OPERATE, width, BIAS, COMPUTE)
    yield Word(f"mmr arrange, {ARRANGEMENT_NAMES[stream.layout]}")
    if stream.steps == 1:
        yield Word("mmr accumulate, 0")
    yield Word("mmr rz_slot, 0")


def _functions(stream: StreamTiling) -> Iterator[Item]:
    """Yield the words that apply the functions `after` to an item in Rz.

    Each slice of register Rz goes to register Rop, and the result of the function back to Rz. The
    second operands of functions are in the open row.
    """
    shifts = stream.integers.shifts
    changes = len(set(shifts)) > 1
    yield Word(f"mmr arrange, {ARRANGEMENT_NAMES[ELEMENTWISE]}")
    if stream.steps > 1:
        yield Word("mmr accumulate, 0")
    yield Word("mmr rz_step, 0")
    operand = stream.integers.bias
    for place, number in enumerate(stream.after):
        what, mode = FUNCTIONS[number], BIAS + 1 + place
        yield Word(f"mmr op, {what.name}")
        if changes:
            yield Word(f"mmr rz_shift, {shifts[place]}")
        for one in range(stream.slices):
            yield Word(f"mmr rz_slot, {one}")
            yield Word("rop <- rz", OPERATE, operation=FROM_RZ)
            if what.operands == 1:
                text = f"{what.symbol}rop" if what.symbol else f"{what.name}(rop)"
                yield Word(f"rz <- {text}", OPERATE, value=mode, operation=COMPUTE_ALONE)
                continue
            column = operand * stream.patterns + one % stream.patterns
            yield Word(
                f"rz <- rop {what.symbol} iosa[{column}]", OPERATE, value=mode, operation=COMPUTE
            )
        operand += what.operands == 2
    yield Word(f"mmr op, {FUNCTION_NAMES[MUL]}")
    if changes:
        yield Word(f"mmr rz_shift, {shifts[-1]}")
    yield Word(f"mmr arrange, {ARRANGEMENT_NAMES[stream.layout]}")
    yield Word("mmr rz_step, 1")
    yield Word("mmr rz_slot, 0")


def _slot(stream: StreamTiling, operations: int) -> int:
    if stream.layout == DOT:
        return operations % stream.shape.numbers.slots
    return 0 if stream.layout == OUTER else operations % SLOTS


def _step(stream: StreamTiling, step: int, mode: int, pulls: Iterator[Pull]) -> Iterator[Word]:
    first = step * stream.wide
    columns = str(first) if stream.wide == 1 else f"{first}:{first + stream.wide}"
    for _ in range(stream.high):
        yield Word("rop <- gio", OPERATE, operation=MOVE)
        yield from next(pulls)
        yield Word(f"rz <- rop * iosa[{columns}]", OPERATE, stream.wide, mode, COMPUTE)
