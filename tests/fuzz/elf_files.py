"""Fuzzes ELF files: each gives an `ElfError`, or a program that can be written and disassembled."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

from macaw.asm import elf
from macaw.asm import elf_format as form
from macaw.asm import elf_note as note
from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.disassembler import disassemble
from macaw.asm.elf import ElfError
from macaw.asm.source import Source
from tests.fuzz import mutate, source_text
from tests.fuzz.target import Example, Target, require, sentence

BIGGEST = 1 << 16  # most bytes of a file of the corpus, and of a disassembled part
THOROUGH = 0.25  # of the examples are disassembled
# Bits of the members of each record, in their order.
_BITS = {"s": 8, "B": 8, "H": 16, "I": 32}
Bytes = bytes | bytearray
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 1 << 31, 1 << 32, 1 << 64, 1.5, 1e300, "", "x", "cp", "pe"),
    *(
        [],
        {},
        [1],
        [[]],
        {"a": 1},
        "\0",
        "\n",
        "\ud800",
        "é",
        "int8",
        "input",
        "output",
        ".text.cp",
    ),
    *(".pe.0", [1, 2], [0], [-1], [1] * 33, [1 << 32], "a" * 5000, 10**400, "name = 'x'\n", "tiny"),
)


@cache
def _assembled(number: int) -> bytes:
    """The file of a source of the corpus; nothing if it has an error or its file is too big."""
    text, folder = source_text.corpus()[number]
    try:
        data = elf.write(assemble(Source(text, "corpus.s", folder)))
    except AssemblyError:
        return b""
    return data if len(data) <= BIGGEST else b""


@cache
def _others() -> tuple[bytes, ...]:
    """A foreign file and a linked file, with and without section headers."""
    foreign = (source_text.ROOT / "tests/emu/c/tour.elf").read_bytes()
    linked = (source_text.ROOT / "programs/c_layer/c_layer.elf").read_bytes()
    return (foreign, linked, _stripped(foreign), _stripped(linked))


def _file(rng: Random) -> bytes:
    """A file; few examples need few files, so a source is assembled when it is first drawn."""
    if rng.random() < 0.05:
        return rng.choice(_others())
    sources = [x for x, (_, folder) in enumerate(source_text.corpus()) if folder.name != "err"]
    while not (found := _assembled(rng.choice(sources))):
        pass
    return _stripped(found) if rng.random() < 0.02 else found


def _stripped(data: bytes) -> bytes:
    members = list(form.FILE_HEADER.unpack_from(data))
    header = form.FileHeader(*members)._replace(sections_at=0, sections=0, names=0)
    return form.FILE_HEADER.pack(*header) + data[form.FILE_HEADER.size :]


def make(rng: Random) -> Example[bytes]:
    """A good file with some damage."""
    origin = _file(rng)
    data = bytearray(origin)
    for _ in range(mutate.several(rng)):
        rng.choice(_DAMAGES)(rng, data)
    return Example(bytes(data), origin, rng.random() < THOROUGH)


def _records(
    data: Bytes, layout: struct.Struct, start: int, count: int
) -> list[tuple[int, tuple[Any, ...]]]:
    """The offset and the fields of each record of a table, as far as the file goes."""
    fitting = min(count, max(0, len(data) - start) // layout.size)
    return [
        (start + i * layout.size, layout.unpack_from(data, start + i * layout.size))
        for i in range(fitting)
    ]


def _header(data: Bytes) -> form.FileHeader | None:
    if len(data) < form.FILE_HEADER.size:
        return None
    return form.FileHeader(*form.FILE_HEADER.unpack_from(data))


def _sections(data: Bytes) -> list[tuple[int, form.SectionHeader]]:
    header = _header(data)
    if header is None:
        return []
    found = _records(data, form.SECTION_HEADER, header.sections_at, header.sections)
    return [(at, form.SectionHeader(*members)) for at, members in found]


def _of_kind(data: Bytes, kind: int) -> list[tuple[int, form.SectionHeader]]:
    return [(at, header) for at, header in _sections(data) if header.kind == kind]


def _member(
    rng: Random, data: bytearray, layout: struct.Struct, at: int, others: Sequence[int] = ()
) -> None:
    """Change a field of the record at offset `at`."""
    members = list(layout.unpack_from(data, at))
    codes = layout.format.strip("<").replace("8x", "").replace("4s", "s")
    place = rng.randrange(len(members))
    if isinstance(members[place], int):
        numbers = [item for item in members if isinstance(item, int)]
        numbers += [*others, len(data)]
        members[place] = mutate.number(rng, members[place], _BITS[codes[place]], numbers)
    else:
        members[place] = rng.choice((b"\x7fELF", b"\x7felf", b"MZ\0\0", b"\0\0\0\0", b"#!/b"))
    layout.pack_into(data, at, *members)


def _in_header(rng: Random, data: bytearray) -> None:
    if _header(data) is not None:
        _member(rng, data, form.FILE_HEADER, 0)


def _in_table(rng: Random, data: bytearray) -> None:
    """Change a section header, program header or symbol; or exchange two of them."""
    header = _header(data)
    if header is None:
        return
    kind = rng.randrange(3)
    if kind == 0:
        layout, start, count = form.SEGMENT, header.segments_at, header.segments
    elif kind == 1:
        layout, start, count = form.SECTION_HEADER, header.sections_at, header.sections
    else:
        layout = form.SYMBOL
        tables = _of_kind(data, form.SHT_SYMTAB)
        if not tables:
            return
        start, count = tables[0][1].offset, tables[0][1].size // layout.size
    found = _records(data, layout, start, count)
    if not found:
        return
    at, _members = rng.choice(found)
    other, members = rng.choice(found)
    if rng.random() < 0.2:
        data[at : at + layout.size], data[other : other + layout.size] = (
            data[other : other + layout.size],
            data[at : at + layout.size],
        )
    else:
        _member(rng, data, layout, at, [item for item in members if isinstance(item, int)])


def _in_strings(rng: Random, data: bytearray) -> None:
    tables = _of_kind(data, form.SHT_STRTAB)
    if tables:
        header = rng.choice(tables)[1]
        mutate.some_bytes(rng, data, header.offset, header.offset + header.size)


def _in_note(rng: Random, data: bytearray) -> None:
    """Change the note's JSON, and append the new note to the file."""
    tables = _of_kind(data, form.SHT_NOTE)
    if not tables:
        return
    at, header = tables[0]
    text = data[header.offset : header.offset + header.size]
    text = text[form.NOTE_HEADER.size + len(note.OWNER) + -len(note.OWNER) % 4 :]
    kind = rng.randrange(6)
    try:
        tree = json.loads(text.rstrip(b"\0"))
    except (ValueError, RecursionError):
        return
    if kind < 4:
        for _ in range(mutate.several(rng, 3)):
            tree = _other_tree(rng, tree)
    new = json.dumps(tree, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    if kind == 4:
        changed = bytearray(new)
        mutate.some_bytes(rng, changed)
        new = bytes(changed)
    elif kind == 5:
        depth = rng.choice((10, 900, 3000, 100_000))
        new = rng.choice((b"[" * depth, b'{"a":' * depth, new.replace(b"[", b"[" * depth, 1)))
    sizes = [len(note.OWNER), len(new), note.TYPE]
    if rng.random() < 0.1:
        place = rng.randrange(3)
        sizes[place] = mutate.number(rng, sizes[place], 32)
    whole = form.NOTE_HEADER.pack(*sizes) + note.OWNER + bytes(-len(note.OWNER) % 4) + new
    whole += bytes(-len(whole) % 4)
    data += bytes(-len(data) % 4)
    moved = header._replace(offset=len(data), size=len(whole))
    form.SECTION_HEADER.pack_into(data, at, *moved)
    data += whole


def _in_lines(rng: Random, data: bytearray) -> None:
    """Change bytes of the line information, which is the first section that is not loaded."""
    tables = [header for _, header in _of_kind(data, form.SHT_PROGBITS) if not header.flags]
    if tables:
        header = rng.choice((tables[0], tables[0], *tables))
        for _ in range(rng.choice((1, 1, 2, 8))):
            mutate.some_bytes(rng, data, header.offset, header.offset + header.size)


def _other_tree(rng: Random, tree: Any) -> Any:
    """A copy of a JSON value in which one value inside is changed, removed or doubled."""
    if isinstance(tree, dict) and tree and rng.random() < 0.85:
        key = rng.choice(list(tree))
        kind = rng.randrange(8)
        if kind == 0:
            return {name: value for name, value in tree.items() if name != key}
        if kind == 1:
            return {**tree, rng.choice(("", "extra", key + "x")): tree[key]}
        return {**tree, key: _other_tree(rng, tree[key])}
    if isinstance(tree, list) and tree and rng.random() < 0.85:
        at = rng.randrange(len(tree))
        kind = rng.randrange(8)
        if kind == 0:
            return tree[:at] + tree[at + 1 :]
        if kind == 1:
            return [*tree, tree[at]]
        return [*tree[:at], _other_tree(rng, tree[at]), *tree[at + 1 :]]
    return rng.choice(VALUES)


def _anywhere(rng: Random, data: bytearray) -> None:
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        mutate.some_bytes(rng, data)


def _contents(rng: Random, data: bytearray) -> None:
    """Change bytes of loaded sections: the file remains valid, its code and packets do not."""
    loaded = _of_kind(data, form.SHT_PROGBITS)
    if loaded:
        header = rng.choice(loaded)[1]
        for _ in range(rng.choice((1, 1, 2, 8, 64))):
            mutate.some_bytes(rng, data, header.offset, header.offset + header.size)


def _spliced(rng: Random, data: bytearray) -> None:
    mutate.spliced(rng, data, _file(rng))


_DAMAGES = (
    *(_in_header, _in_table, _in_table, _in_table, _in_table, _in_strings, _in_note, _in_note),
    *(_in_lines, _in_lines),
    *(_in_note, _contents, _contents, _anywhere, _spliced, mutate.cut, mutate.extended),
)


def check(example: Example[bytes]) -> str:
    """Read a file; an accepted program can be written, read again and disassembled."""
    try:
        program = elf.read(example.data)
    except ElfError as error:
        sentence(str(error))
        return "refused"
    if program.note_version:
        again = elf.read(elf.write(program))
        require(again == program, "the program that is written again is another one")
    if example.thorough and sum(len(item.data) for item in program.sections) <= BIGGEST:
        require(bool(disassemble(program).strip()), "nothing is printed")
        return "printed"
    return "accepted"


TARGET = Target("elf", make, check)
