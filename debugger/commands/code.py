"""Lists instructions by address, and source lines, for commands and for the screen.

The commands are `x/i`, `disassemble` and `list`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from macaw.asm.disassembly import code
from macaw.asm.disassembly.forms import printer_of
from macaw.asm.generated_sources import generated_file
from macaw.debugger.commands.line import CommandError
from macaw.debugger.commands.operands import symbol_at
from macaw.debugger.locations import records_of
from macaw.debugger.places import Place
from macaw.emu.copies import original
from macaw.emu.faults import Fault
from macaw.isa import reading, registry

if TYPE_CHECKING:
    from macaw.asm.program import Section
    from macaw.debugger.session import Session
    from macaw.isa.model import Core

Piece = tuple[int, int, str]  # address, size in bytes and text
MOST_SOURCE = 16 << 20  # the greatest number of bytes of a source that is shown


class Row(NamedTuple):
    """A row of a listing: an instruction, or a piece (packet, list) of data.

    `next` is the address after its bytes, `where` the address with its symbol
    (`0x00010008 <loop+4>`), `line` the file and line of its source. `mark` is `=>` if a core
    executes it next.
    """

    address: int
    next: int
    text: str
    where: str
    mark: str
    line: tuple[str, int] | None


def instructions(session: Session, address: int, count: int) -> list[Row]:
    """Return `count` rows of a listing from the row at `address` on, or fewer if the section ends.

    Raises `CommandError` if the address is outside of the program. If the address is in a copy of a
    section, return the rows of the original section.
    """
    address = _original(session, address)
    section = session.program.section_at(address)
    if section is None or section.core is None:
        raise CommandError(f"no code of the program is at {address:#010x}")
    return _rows(session, islice(_pieces(session, section, address), count))


def _pieces(session: Session, section: Section, address: int) -> Iterator[Piece]:
    """Yield (address, size in bytes, text) for each piece of a section from `address` on."""
    table = registry.core(section.core or "")
    yield from (_words if table.executable else _records)(session, section, table, address)


def _rows(session: Session, pieces: Iterable[Piece]) -> list[Row]:
    """Return the rows of a listing for some pieces of the program."""
    marks = cores_by_address(session)
    rows: list[Row] = []
    for at, size, text in pieces:
        where = f"{at:#010x}"
        name = symbol_at(session, at)
        line = session.program.line_at(at)
        rows.append(
            Row(
                at,
                at + size,
                text,
                where + (f" <{name}>" if name else ""),
                "=>" if at in marks else "",
                (line.file, line.line) if line is not None else None,
            )
        )
    return rows


def cores_by_address(session: Session) -> dict[int, list[Place]]:
    """Return the places of cores by the address of the instruction that they execute next.

    If that address is in a copy of a section, the key is the matching address in the original
    section.
    """
    by_address: dict[int, list[Place]] = {}
    for core in session.device.order:
        address = core.next_address if core.running else None
        if address is not None:
            by_address.setdefault(original(session.program, core, address), []).append(
                Place(core.name)
            )
    return by_address


def _original(session: Session, address: int) -> int:
    if session.program.section_at(address) is not None:
        return address
    for target in session.targets(address):
        return original(session.program, target.core, target.address)
    return address


def around(session: Session, address: int, before: int, after: int) -> list[Row]:
    """Return up to `before` rows before an address, and `after` rows that begin at this address.

    The rows end with the section. If fewer than `before` instructions precede the address in the
    section, more instructions follow it. Raises `CommandError` if the address is outside of the
    program.
    """
    address = _original(session, address)
    section = session.program.section_at(address)
    if section is None or section.core is None:
        raise CommandError(f"no code of the program is at {address:#010x}")
    if registry.core(section.core).executable:
        begin = max(section.address, address - before * code.WORD)
        return instructions(session, begin, before + after)
    pieces = list(_pieces(session, section, section.address))
    place = max((number for number, (at, _, _) in enumerate(pieces) if at <= address), default=0)
    return _rows(session, pieces[max(0, place - before) : place + after])


def _words(session: Session, section: Section, table: Core, address: int) -> Iterator[Piece]:
    """Yield (address, size in bytes, text) for each word, with its present value in memory.

    The words are those of `section` from `address` on; `table` is the core that executes them.
    """

    def name(place: int) -> str | None:
        return symbol_at(session, place) or None

    printer = printer_of(table.name)
    printer.open(session.program, section)
    for at in range(address // code.WORD * code.WORD, section.end, code.WORD):
        try:
            data = session.device.memory.peek(at, code.WORD)
        except Fault:
            return
        word = code.word(table, int.from_bytes(data, "little"))
        own = printer.line(word.instruction, at) if word.instruction is not None else None
        if word.instruction is not None:
            printer.target_of(word.instruction, at)
        yield at, code.WORD, " ".join((own or word.text_at(table, at, name)).split())


def _records(session: Session, section: Section, table: Core, address: int) -> Iterator[Piece]:
    """Yield (address, size in bytes, text) for packets and lists, as they were assembled.

    These are the packets and lists of `section` from `address` on; `table` is the core that reads
    them.
    """
    for item in records_of(session.program, section.name, table.name):
        if item.address + item.size > address:
            yield item.address, item.size, " ".join(item.text.split())


def source_names(session: Session) -> list[str]:
    """Return the names of the program's sources, including C sources from the line table."""
    program = session.program
    return sorted({*program.source_files, *program.line_table.files})


@lru_cache(maxsize=64)
def source_lines(path: str) -> tuple[str, ...]:
    """Return the lines of a source file or of a default program. Raises `CommandError`."""
    try:
        data = reading.read(generated_file(path) or path, MOST_SOURCE)
    except reading.UnreadableError as error:
        raise CommandError(f"the source {path} cannot be read: {error}") from None
    return tuple(data.decode("utf-8", "replace").splitlines())
