"""Finds the lines of the source to which the instructions of a core belong."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from macaw.asm.disassembly import code
from macaw.asm.generated_sources import generated_file
from macaw.emu.copies import original
from macaw.emu.core import Core
from macaw.emu.device import Device
from macaw.isa import reading
from macaw.profiling.file_names import short_file_names

_CODE = re.compile(r"""((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'|[^"'#])*)""")
_LABEL = re.compile(r"\s*[\w.$]+:\s*")


class SourceLine(NamedTuple):
    """A line of the source; for an instruction without a line, its address instead."""

    file: str = ""  # as the program names it
    number: int = 0  # from 1 on
    address: int = 0  # of an instruction without a line; else 0
    place: str = ""  # short: "layer.s:12", or "main+0x8"
    text: str = ""  # of the statement; without a line, the instruction as it is disassembled

    @property
    def sentence(self) -> str:
        """The place and the text, such as "layer.s:12: dma.wait x0"."""
        return f"{self.place}: {self.text}" if self.text else self.place


NOWHERE = SourceLine()


class SourceLines:
    """Finds the source lines of a core's instructions. `found` has the results by address."""

    def __init__(self, device: Device, core: Core) -> None:
        self.device, self.core = device, core
        self.found: dict[int | None, SourceLine] = {None: NOWHERE}

    def line(self, address: int | None) -> SourceLine:
        """Return the line of the instruction at an address; for None, `NOWHERE`."""
        line = self.found.get(address)
        if line is None:
            assert address is not None
            line = self.found[address] = find_line(self.device, self.core, address)
        return line


def find_line(device: Device, core: Core, address: int) -> SourceLine:
    """Return the source line of the instruction of a core at an address."""
    program, place = device.program, device.place(address, core)
    if place is not None and program is not None:
        file, number, _ = place
        short = short_file_names(program.line_table.files)[file]
        return SourceLine(file, number, 0, f"{short}:{number}", statement(file, number))
    text = disassemble(device, core, address)
    if program is not None:
        address = original(program, core, address)
    return SourceLine("", 0, address, symbol_text(device, address), text)


def disassemble(device: Device, core: Core, address: int) -> str:
    """Return the instruction of a core at an address as the disassembler prints it.

    The result is empty if there is no instruction.
    """
    if device.program is None:
        return ""
    address = original(device.program, core, address)
    section = device.program.section_at(address)
    if section is None or not core.table.executable or address % 4:
        return ""
    offset = address - section.address
    value = int.from_bytes(section.data[offset : offset + 4], "little")
    return " ".join(code.word(core.table, value).text_at(core.table, address, hex).split())


def symbol_text(device: Device, address: int) -> str:
    """Return an address as text, relative to a symbol (`main+0x8`) if there is one."""
    match = device.program.symbol_at(address) if device.program else None
    if match is None:
        return f"{address:#010x}"
    symbol, distance = match
    return f"{symbol.name}+{distance:#x}" if distance else symbol.name


@cache
def read_lines(file: str) -> list[str]:
    """Return the lines of a source file, or of a core's default program.

    The result is empty if the file cannot be read.
    """
    own = generated_file(file)
    if own is not None:
        return own.read_text("utf-8").splitlines()
    try:
        return reading.read(file, reading.MOST_SOURCE).decode("utf-8", "replace").splitlines()
    except reading.UnreadableError:
        return []


def statement(file: str, line: int) -> str:
    """Return the statement in line number `line` of a source file, without labels and comment.

    The text is empty if the file cannot be read or does not have this line.
    """
    lines = read_lines(file)
    if not 0 < line <= len(lines):
        return ""
    match = _CODE.match(lines[line - 1])
    text = match.group(1) if match else ""
    while label := _LABEL.match(text):
        text = text[label.end() :]
    return " ".join(text.split())
