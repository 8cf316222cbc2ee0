"""Disassemblies of random and damaged words, overlapping symbols and odd lines, against recorded texts."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from macaw.asm.assembler import assemble
from macaw.asm.disassembler import DisassemblyError, disassemble
from macaw.asm.program import Line, LineTable, Program, Section, Symbol, Tensor
from macaw.asm.source import Source
from macaw.isa import codec, memory_map, registry
from macaw.isa.codec import DecodeError
from macaw.isa.kinds import Kind
from macaw.isa.rows import Instruction
from tests.asm.generated import instructions, outcomes
from tests.recorded import check

pytestmark = pytest.mark.once

CODE = {  # section and address of the code of a core
    "cp": (".text.cp", 0x10000),
    "vc": (".text.vc", memory_map.EXTERNAL),
    "nnp": (".nnp", 0x30300000),
    "fim": (".fim.0", 0x30800000),
}
NAMES = ("a", "b", "c", "a.1", "_start", "x y", "0odd", "ü", ".L1", "a", "", "sp", "add")
COUNT = 8  # programs of a core


def word(random: Random, name: str) -> int:
    """A word: legal, legal but for one or two bits, or any."""
    row = instructions.drawn(registry.core(name).instructions, random)
    assert isinstance(row, Instruction)
    values = {}
    for item in row.operands:
        edges = [
            0,
            1,
            (1 << item.field.width - 1) - 1,
            -(1 << item.field.width - 1),
            random.randrange(1 << item.field.width),
        ]
        good = [x for x in edges if _is_good(item.kind, x)]
        values[item.name] = random.choice(good) if good else item.field.extract(row.match)
    found = row.match | sum(item.field.insert(values[item.name]) for item in row.operands)
    for _ in range(random.choice((0, 0, 0, 1, 2))):
        found ^= 1 << random.randrange(row.format.width)
    return (
        random.choice((found, found, found, found, 0, 0xFFFFFFFF, random.getrandbits(32)))
        & 0xFFFFFFFF
    )


def _is_good(kind: Kind, value: int) -> bool:
    try:
        kind.check(value)
    except ValueError:
        return False
    return True


def symbols(random: Random, section: Section) -> list[Symbol]:
    """Symbols at and between the words, at one place, at the end and beyond, of any size."""
    found = []
    for _ in range(random.randint(2, 7)):
        place = section.address + random.choice(
            (0, 4, 4, 8, 6, 9, section.size - 4, section.size, section.size + 4)
        )
        size = random.choice((0, 1, 4, 8, section.size, section.size + 8))
        is_global = random.random() < 0.4
        kind = random.choice(("func", "object", "notype"))
        found.append(
            Symbol(
                random.choice(NAMES),
                place,
                size,
                section.name,
                kind,
                is_global,
                is_global and random.random() < 0.5,
            )
        )
    if random.random() < 0.5:
        found.append(Symbol("N", random.choice((0, 5, 0xFFFFFFFF)), 0, None, "notype", False))
    return list(dict.fromkeys(found))


def image(name: str, number: int) -> Program:
    """A program with code of a core, data, symbols and lines, and rarely a tensor."""
    random = Random(f"image {name} {number}")
    words = [word(random, name) for _ in range(random.choice((1, 3, 8, 20)))]
    data = b"".join(x.to_bytes(4, "little") for x in words)
    if name in ("cp", "vc"):
        data += random.randbytes(random.choice((0, 0, 0, 1, 2, 3)))
    title, address = CODE[name]
    code = Section(
        title, name, 0 if name == "fim" else None, address, address, data, len(data), 4, "ax"
    )
    sections = [code]
    base = memory_map.EXTERNAL + (0x100 if name == "vc" else 0)
    pieces = (
        b"text\0",
        bytes(9),
        b"\xff\xff\0\0",
        b'"\\\n\0',
        random.randbytes(5),
        b"ab",
        bytes(40),
    )
    text = b"".join(random.choice(pieces) for _ in range(random.randint(1, 4)))
    sections.append(
        Section(".data", None, None, base, base, text, len(text), random.choice((1, 4, 64)), "aw")
    )
    if random.random() < 0.4:
        sections.append(
            Section(
                ".bss",
                None,
                None,
                base + 0x200,
                base + 0x200,
                b"",
                random.choice((1, 8, 100)),
                8,
                "aw",
            )
        )
    tensors = (
        (Tensor("t", "input", "int16", (2, 3), base + 0x400),) if random.random() < 0.3 else ()
    )
    if tensors:
        sections.append(
            Section(".tensors", None, None, base + 0x400, base + 0x400, b"", 12, 64, "aw")
        )
    named = [symbol for section in sections for symbol in symbols(random, section)]
    if tensors:
        named.append(Symbol("t", base + 0x400, 12, ".tensors", "object", True))
    places = sorted(random.sample(range(0, len(data), 4), min(3, (len(data) + 3) // 4)))
    lines = [
        Line(
            title,
            address + place,
            random.choice(("a.s", "b.s")),
            random.randint(0, 9),
            random.randint(0, 20),
        )
        for place in places
    ]
    return Program(tuple(sections), tuple(named), tensors, lines=LineTable.of(lines), entry=address)


@pytest.mark.parametrize("name", CODE)
def test_random_words(name: str) -> None:
    found = {}
    for number in range(COUNT):
        program = image(name, number)
        found[f"{name} {number}"] = "\n".join(
            outcomes.shortened(disassemble(program).splitlines(), 30 if number < 3 else 1)
        )
        found[f"{name} {number} raw"] = "\n".join(
            outcomes.shortened(disassemble(program, raw=True).splitlines(), 16 if number < 3 else 1)
        )
    check(outcomes.FOLDER / f"disassembly_{name}.txt", found)


@pytest.mark.parametrize("name", CODE)
def test_sources_of_random_words_assemble_to_them(name: str) -> None:
    for number in range(COUNT):
        program = replace(image(name, number), symbols=(), tensors=())
        sections = (program.section(CODE[name][0]),)
        text = disassemble(replace(program, sections=sections))
        again = assemble(Source(text, outcomes.NAME))
        assert [x.data for x in again.sections if x.core == name] == [
            program.section(CODE[name][0]).data
        ], text


@pytest.mark.parametrize("name", CODE)
def test_decoded_words_encode_to_themselves(name: str) -> None:
    """A word that the decoder accepts is what its values encode; a refusal says why."""
    random, core, reasons = Random(f"words {name}"), registry.core(name), []
    for _ in range(400):
        value = word(random, name)
        try:
            decoded = codec.decode(core, value, address=value & 0xFFFC)
        except DecodeError as error:
            reasons.append(f"{error.kind} {error.detail}")
            continue
        assert codec.encode(decoded.row, decoded.values) == value
    found = sorted(set(reasons))
    check(
        outcomes.FOLDER / f"refused_{name}.txt",
        {name: "\n".join(outcomes.shortened([*found, f"{len(reasons)} words"], 24))},
    )


def test_choices_of_parts() -> None:
    """Cores and sections that a program has, does not have, or misspells."""
    program, found = image("cp", 3), {}
    for core in (None, "cp", "vc", "cq"):
        for only in (None, ".text.cp", ".data", ".bss", ".txt.cp", ""):
            for raw in (False, True):
                try:
                    text = outcomes.digest(disassemble(program, core, only=only, raw=raw))
                except (DisassemblyError, LookupError) as error:
                    text = f"{type(error).__name__}: {error}"
                found[f"{core} {only} {'raw' if raw else 'source'}"] = text
    check(outcomes.FOLDER / "choices_of_parts.txt", found)
