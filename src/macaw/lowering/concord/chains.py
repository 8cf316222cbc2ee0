"""Decodes an nnp program into the chains that it executes, each with its scalar registers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from macaw.asm.program import Line, Program, Section
from macaw.isa.codec import Decoded, DecodeError, decode, describe
from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.nnp import BEGIN, BETWEEN, CORE, FINISH, RESET
from macaw.isa.nnp_chains import ChainError, complete, follow, goes_on, settings, step
from macaw.isa.nnp_entries import Access, accesses, check
from macaw.lowering.errors import LowerError

MOST_CHAINS = 1 << 20


@dataclass(frozen=True)
class SourceInstruction:
    """An instruction of the program: its address, its text and its source line."""

    address: int
    text: str
    line: Line | None

    def __str__(self) -> str:
        where = f"{self.line.file}:{self.line.line}" if self.line else f"{self.address:#010x}"
        return f"{where}: {self.text}"


@dataclass(frozen=True)
class Chain:
    """A chain that the program executes: instructions from a read to a write.

    Vectors pass through them one after another, in iterations. `rows` has the decoded instructions;
    `places` says where each of them is in the source. `scalars` has the values of the scalar
    registers when the chain starts.
    """

    rows: tuple[Decoded, ...]
    places: tuple[SourceInstruction, ...]
    scalars: Mapping[str, int]


def writes(chain: Chain) -> list[Access]:
    """Return the accesses by which a chain writes to memories and queues."""
    return [access for access in accesses(chain.rows, chain.scalars) if access.writes]


def part(program: Program) -> Section:
    """Return the section with the program's nnp code. Raises `LowerError` if there is none."""
    sections = [section for section in program.parts(CORE.name) if section.flags.count("x")]
    if not sections:
        raise LowerError("the program has no nnp part", "`.core nnp` begins one")
    return sections[0]


def chains(
    program: Program, config: Configuration, entries: Sequence[tuple[str, int]] = ()
) -> Iterator[Chain]:
    """Yield the chains that a program executes, in order of execution.

    Execution starts at `_start`, or in turn at each symbol in `entries`: pairs (symbol, how many
    times nnp starts there). Scalar registers keep their values between starts. Raises `LowerError`
    if a symbol is unknown, code is wrong, or there are more than `MOST_CHAINS` chains.
    """
    section = part(program)
    scalars = dict(RESET)
    count = 0
    for address in _starts(program, section, entries):
        for chain in _run(program, section, address, scalars, config):
            yield chain
            count += 1
            if count > MOST_CHAINS:
                raise LowerError(f"more than {MOST_CHAINS} chains")


def _starts(program: Program, section: Section, entries: Sequence[tuple[str, int]]) -> list[int]:
    """Return the addresses at which the program is started, in the order of the starts.

    `entries` has pairs (symbol, how many times nnp starts there). If it is empty, the program is
    started once, at `_start` or, without this label, at the beginning of its section. Raises
    `LowerError` for an unknown symbol and for too many starts.
    """
    labels = {
        item.name: item.value
        for item in program.symbols
        if item.section == section.name and section.holds(item.value)
    }
    if not entries:
        return [labels.get("_start", section.address)]
    addresses = []
    for name, times in entries:
        if name not in labels:
            names = ", ".join(sorted(labels)) or "none"
            raise LowerError(f"no label '{name}' in the nnp part", f"there are: {names}")
        if times > MOST_CHAINS:
            raise LowerError(f"more than {MOST_CHAINS} runs from '{name}'")
        addresses += [labels[name]] * times
    return addresses


def _run(
    program: Program, section: Section, address: int, scalars: dict[str, int], config: Configuration
) -> Iterator[Chain]:
    """Yield the chains from `address` to the `end_chain` that stops the core.

    `scalars` has the values of the scalar registers, which the function changes.
    """
    sizes = {name: int(config[name]) for name in _SIZES}
    rows: list[Decoded] = []
    places: list[SourceInstruction] = []
    while True:
        instruction, place = _decode(program, section, address)
        address += instruction.row.format.size
        if rows and not goes_on(instruction):
            yield _chain(rows, places, scalars, sizes)
            rows, places = [], []
        role = step(instruction).role
        if role == FINISH:
            if instruction.values.get("last") or _is_end(section, address):
                return
        elif role != BETWEEN:
            if not rows and role != BEGIN:
                raise LowerError(f"{place}: no chain has begun")
            rows.append(instruction)
            places.append(place)
        elif "reg" in instruction.values:
            scalars.update(settings(instruction))


_SIZES = tuple(item.name for item in CORE.settings if not item.choices)


def _is_end(section: Section, address: int) -> bool:
    """Return whether the program ends at `address`: at the section's end or at a zero word."""
    offset = address - section.address
    return not section.holds(address) or not any(section.data[offset : offset + 4])


def _decode(program: Program, section: Section, address: int) -> tuple[Decoded, SourceInstruction]:
    if not section.holds(address):
        raise LowerError("the nnp part has no end_chain at its end")
    offset = address - section.address
    word = int.from_bytes(section.data[offset : offset + 4], "little")
    try:
        instruction = decode(CORE, word, 32, address)
    except DecodeError as error:
        raise LowerError(str(error)) from None
    return instruction, SourceInstruction(
        address, describe(instruction, address), program.line_at(address)
    )


def _chain(
    rows: Sequence[Decoded],
    places: Sequence[SourceInstruction],
    scalars: Mapping[str, int],
    sizes: Mapping[str, int],
) -> Chain:
    try:
        follow(rows)
        complete(rows)
        check(rows, scalars, sizes)
    except ChainError as error:
        place = places[min(error.at, len(places) - 1)]
        raise LowerError(f"{place}: {error}", error.meaning) from None
    return Chain(tuple(rows), tuple(places), dict(scalars))
