"""A device with a cp (and a dma and toy cores, if the test asks for them), and programs for it."""

from __future__ import annotations

from typing import Any

import macaw.emu.cp
from macaw.asm.program import Program, Section
from macaw.emu.device import Builder, Device
from macaw.emu.scalar.fast.blocks import Block
from macaw.emu.scalar.fast.hart import FastHart
from macaw.emu.scalar.hart import Hart
from macaw.isa import cp, scalar
from macaw.isa.codec import encode, select
from macaw.isa.rows import Instruction
from tests.emu.toys import make

TEXT = 0x10000
COSTS = {setting.name: setting.default for setting in cp.CORE.settings}


def code(source: str) -> bytes:
    """Assemble instructions, one on each line, without labels; targets are distances in bytes."""
    words = []
    for line in filter(None, (line.partition("#")[0].strip() for line in source.splitlines())):
        mnemonic, _, rest = line.partition(" ")
        written: list[tuple[str, str | None]] = []
        for text in filter(None, (text.strip() for text in rest.split(","))):
            outer, bracket, inner = text.partition("(")
            written.append((outer, inner.rstrip(")") if bracket else None))
        row, fits = select(cp.CORE.rows[mnemonic], written)
        assert fits, line
        texts = [text for pair in written for text in pair if text is not None]
        assert isinstance(row, Instruction), line
        values = {}
        for operand, text in zip(row.operands, texts, strict=True):
            value = operand.kind.parse(text)
            values[operand.name] = int(text, 0) if value is None else value
        words.append(encode(row, values))
    return b"".join(word.to_bytes(4, "little") for word in words)


def program(text: bytes, *data: tuple[int, bytes], entry: int = TEXT, at: int = TEXT) -> Program:
    """Return a program with machine code at `at`; each of `data` is an address and its bytes."""
    sections = [Section(".text.cp", "cp", None, at, at, text, len(text), 4, "ax")]
    sections += [
        Section(f".data{place}", None, None, address, address, content, len(content), 4, "aw")
        for place, (address, content) in enumerate(data)
    ]
    return Program(tuple(sections), device="toy", entry=entry)


def machine(
    source: str | bytes, *others: Builder, data: tuple[tuple[int, bytes], ...] = (), **changes: Any
) -> Device:
    """A device with the program loaded; `changes` are settings, with `__` instead of the dot."""
    settings = {name.replace(".", "__"): value for name, value in COSTS.items()}
    device = make(macaw.emu.cp.build, *others, **(settings | changes))
    text = code(source) if isinstance(source, str) else source
    device.load(program(text, *data))
    return device


def processor(device: Device) -> Hart:
    found = device.cores["cp"]
    assert isinstance(found, Hart)
    return found


def translated_blocks(device: Device) -> dict[int, Block]:
    """The fast engine's translated blocks that do not count for the trace, by address."""
    found = device.cores["cp"]
    assert isinstance(found, FastHart)
    return found.plain.blocks


def register(device: Device, name: str) -> int:
    """The value of a register, 0 to 2**32 - 1."""
    number = scalar.REGISTER.parse(name)
    assert number is not None
    return processor(device).x[number]
