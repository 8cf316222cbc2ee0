"""Bare images: objcopy makes equal images from Macaw's executables, and reads Macaw's images."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.asm import elf, images
from macaw.asm.assembler import assemble
from macaw.asm.images import ImageError
from macaw.asm.program import Program, Section
from macaw.asm.source import Source
from macaw.commands import asm as command
from tests.asm.gnu_tools import tool
from tests.fuzzing import properties

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SAMPLES = ("programs/layer/layer.s", "programs/own_cp/own_cp.s", "programs/hello/hello.s")


def section(name: str, address: int, data: bytes, size: int = 0, flags: str = "aw") -> Section:
    return Section(name, None, None, address, address, data, size or len(data), 1, flags)


def records(data: bytes) -> list[tuple[int, int, bytes]]:
    """Kind, address and data of each record of Intel HEX; checks sums and lengths."""
    found = []
    for line in data.decode("ascii").splitlines():
        assert line[0] == ":"
        raw = bytes.fromhex(line[1:])
        assert sum(raw) % 256 == 0
        assert raw[0] == len(raw) - 5
        found.append((raw[3], int.from_bytes(raw[1:3], "big"), raw[4:-1]))
    return found


def memory(data: bytes) -> tuple[dict[int, int], int | None]:
    """A reader of Intel HEX, independent of Macaw: byte by address, and the entry address."""
    base, entry, found = 0, None, {}
    *body, last = records(data)
    assert last == (1, 0, b"")
    for kind, address, content in body:
        value = int.from_bytes(content, "big")
        if kind == 0:
            assert address + len(content) <= 1 << 16  # readers disagree on addresses that wrap
            for place, byte in enumerate(content, base + address):
                assert place not in found
                found[place] = byte
        elif kind == 2:
            base = value << 4
        elif kind == 4:
            base = value << 16
        else:
            assert kind in (3, 5)
            entry = ((value >> 16) << 4) + (value & 0xFFFF) if kind == 3 else value
    return found, entry


def loaded(program: Program) -> dict[int, int]:
    return {
        item.load_address + place: byte
        for item in program.sections
        for place, byte in enumerate(item.data)
    }


def objcopy(*words: str | Path) -> None:
    subprocess.run([tool("objcopy"), *words], check=True, capture_output=True)


@pytest.mark.parametrize("name", SAMPLES)
def test_objcopy_makes_the_same_of_our_executables(name: str, tmp_path: Path) -> None:
    program = assemble(ROOT / name)
    executable, theirs, ours = (tmp_path / x for x in ("p.elf", "theirs", "ours"))
    executable.write_bytes(elf.write(program))
    objcopy("-O", "ihex", executable, theirs)
    written = images.write(program, "hex")
    assert memory(written) == memory(theirs.read_bytes()) == (loaded(program), program.entry)
    ours.write_bytes(written)
    objcopy("-I", "ihex", "-O", "ihex", ours, ours)  # objcopy writes Macaw's file again
    assert memory(ours.read_bytes()) == memory(theirs.read_bytes())
    for kind in {images.memory_of(item) for item in program.sections if item.data}:
        inside = [x.name for x in program.sections if x.data and images.memory_of(x) == kind]
        chosen = [word for name in inside for word in ("-j", name)]
        objcopy("-O", "binary", *chosen, executable, theirs)
        assert images.write(program, "bin", kind) == theirs.read_bytes()
        data, _entry = memory(images.write(program, "hex", kind))
        start = min(data)
        assert bytes(data.get(start + i, 0) for i in range(max(data) + 1 - start)) == (
            theirs.read_bytes()
        )


def test_images_of_one_memory_begin_where_the_manual_says() -> None:
    for name in SAMPLES:
        program = assemble(ROOT / name)
        for kind, start in (("local", 0x10000), ("external", 0x8000_0000)):
            inside = [x for x in program.sections if x.data and images.memory_of(x) == kind]
            if inside:
                assert min(item.load_address for item in inside) == start


PIECES = st.lists(st.tuples(st.integers(0, 70_000), st.binary(min_size=1, max_size=70)), max_size=5)


@properties
@given(PIECES, st.sampled_from((0, 0xFFF8, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFF0_0000)))
def test_any_sections_are_in_the_image(pieces: list[tuple[int, bytes]], start: int) -> None:
    sections, address = [], start
    for number, (gap, data) in enumerate(pieces):
        address += gap
        sections.append(section(f".{number}", address, data))
        address += len(data)
    program = Program(sections=tuple(sections[::-1]), entry=start or None)
    if not sections:
        for kind in images.FORMATS:
            with pytest.raises(ImageError, match="an image of nothing: the program has no bytes"):
                images.write(program, kind)
        return
    assert memory(images.write(program, "hex")) == (loaded(program), start or None)
    whole = loaded(program)
    if len({images.memory_of(item) for item in sections}) == 1:
        raw = images.write(program, "bin")
        assert raw == bytes(whole.get(place, 0) for place in range(min(whole), max(whole) + 1))


def test_intel_hex_is_as_its_specification_writes_it() -> None:
    """Intel HEX divides data at the end of a 64 KiB block into two records.

    Other records have the upper half of the address, the start and the end.
    """
    program = Program(sections=(section(".a", 0x1FFFE, b"\x01\x02\x03"),), entry=0x1FFFE)
    assert images.write(program, "hex").splitlines() == [
        b":020000040001F9",
        b":02FFFE000102FE",
        b":020000040002F8",
        b":0100000003FC",
        b":040000050001FFFEF9",
        b":00000001FF",
    ]


def test_zeros_are_not_in_an_image() -> None:
    zeros = section(".bss", 0x8000_0010, b"", 64)
    program = Program(sections=(section(".data", 0x8000_0000, b"ab"), zeros))
    assert images.write(program, "bin") == b"ab"
    assert memory(images.write(program, "hex"))[0] == {0x8000_0000: 0x61, 0x8000_0001: 0x62}
    between = replace(zeros, address=0x8000_0002, load_address=0x8000_0002, size=2)
    program = Program(sections=(*program.sections[:1], between, section(".z", 0x8000_0004, b"z")))
    assert images.write(program, "bin") == b"ab\0\0z"


def test_what_no_image_can_be_is_said() -> None:
    program = assemble(ROOT / "programs/layer/layer.s")
    with pytest.raises(ImageError) as caught:
        images.write(program, "bin")
    assert caught.value.message == (
        "a raw image holds one memory: .text.cp is loaded at 0x00010000, .pe.0 at 0x80000000"
    )
    assert caught.value.hint == "choose the memory local or external, or the format hex"
    with pytest.raises(ImageError, match="the program has no bytes in external memory"):
        images.write(assemble(Source(".core cp\n nop\n")), "hex", "external")
    far = Program(sections=(section(".a", 0x10000, b"a"), section(".b", 0x200_0000, b"b")))
    with pytest.raises(ImageError) as caught:
        images.write(far, "bin")
    assert caught.value.message == (
        "33488895 bytes lie between .a and .b, a raw image takes 16777216 at most"
    )
    assert caught.value.hint == "the format hex holds no gaps"
    assert len(images.write(far, "hex")) < 200


def test_the_command_offers_what_there_is() -> None:
    """The choices of the command, which are written out for speed, are the formats that exist."""
    options = {item.name: item for item in command.command.params}
    assert list(options["format"].type.choices) == ["elf", *images.FORMATS]  # type: ignore[attr-defined]
    assert list(options["memory"].type.choices) == [*images.MEMORIES]  # type: ignore[attr-defined]
