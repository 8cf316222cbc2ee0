"""Prints an nnp part as source. A chain that the assembler would refuse is printed as data."""

from __future__ import annotations

import struct

from macaw.asm.columns import statement, with_comment
from macaw.asm.disassembly.forms import PartPrinter
from macaw.asm.disassembly.labels import INDENT
from macaw.asm.program import Program, Section
from macaw.isa import codec, config
from macaw.isa.codec import Decoded
from macaw.isa.nnp import CORE
from macaw.isa.nnp_walk import broken

_WORD = 4  # bytes of an instruction


class NnpPrinter(PartPrinter):
    """Prints the instructions of nnp. A chain that breaks a rule is printed as data."""

    has_lines = True

    def __init__(self) -> None:
        self._refused: dict[int, str] = {}  # reasons why chains are refused, by address

    def open(self, program: Program, section: Section) -> None:
        try:
            sizes = config.parse(program.config_toml)
        except config.ConfigError:
            sizes = config.parse("")
        whole = section.data[: len(section.data) // _WORD * _WORD]
        words: list[int | None] = [word for (word,) in struct.iter_unpack("<I", whole)]
        while wrong := list(broken(words, sizes)):  # without these chains, others may break rules
            for item in wrong:
                for place in item.words:
                    words[place] = None
                    self._refused[section.address + _WORD * place] = str(item.error)

    def line(self, instruction: Decoded, address: int) -> str | None:
        if address not in self._refused:
            return None
        text = statement(f".word {codec.encode(instruction.row, instruction.values):#010x}")
        return with_comment(INDENT + text, f"# {CORE.name}: {self._refused[address]}")


PRINTER = NnpPrinter
