"""Prints a fim part as source: blocks with their banks, operations as moves, named values.

A word that breaks a rule of `macaw.isa.fim_check` is printed as a number, because the assembler
would refuse its source form. If the word is not an act, fim or mmr, or if a block has no end, all
words are printed as numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress

from macaw.asm.disassembly.forms import PartPrinter
from macaw.asm.disassembly.labels import directive, in_body
from macaw.asm.program import Program, Section
from macaw.isa import codec, config, memory_map
from macaw.isa.codec import Decoded, DecodeError
from macaw.isa.fim import CORE
from macaw.isa.fim_check import Check, CheckError
from macaw.isa.fim_circuit import COLUMN_BYTES, REGISTERS
from macaw.isa.fim_islands import abilities, bank_ranges, geometry
from macaw.isa.fim_moves import spelt

_WORD = 4
_ALONE = ("act", "fim", "mmr")  # if one of these breaks a rule, only its own word is wrong


class FimPrinter(PartPrinter):
    """Prints the part of an island as source."""

    has_lines = True

    def __init__(self) -> None:
        self._broken = False  # blocks or loops are wrong
        self._numbers: set[int] = set()  # addresses of words that break another rule
        self._inside = False  # whether the next word is inside of a block
        self._functions: dict[int, int] = {}  # the functions of operations, by address

    def open(self, program: Program, section: Section) -> None:
        self._broken = self._inside = False
        self._functions, self._numbers = {}, set()
        try:
            check = _check(program, section.index or 0)
            for instruction, address in _instructions(section):
                function = check.registers.get("op")
                try:
                    check.take(instruction.row, instruction.values, address)
                except CheckError as error:
                    if instruction.row.mnemonic not in _ALONE or error.mark not in (None, address):
                        raise
                    self._numbers.add(address)
                if instruction.row.mnemonic == "fim" and function is not None:
                    self._functions[address] = function
            check.finish()
        except (CheckError, config.ConfigError):
            self._broken = True
        for address in _ambiguous(section):
            self._functions.pop(address, None)

    def line(self, instruction: Decoded, address: int) -> str | None:
        if self._broken or address in self._numbers:
            word = codec.encode(instruction.row, instruction.values)
            return directive(f".word {word:#010x}")
        name, values = instruction.row.mnemonic, instruction.values
        put = in_body if self._inside else directive
        match name:
            case "block":
                self._inside = True
                return directive(f".block banks={_ranges(values['banks'])}")
            case "end":
                self._inside = False
                return directive(name)
            case "mmr":
                return put(_register(instruction))
            case "fim":
                move = self._move(values, address)
                return put(move or codec.describe(instruction))
        return put(codec.describe(instruction)) if self._inside else None

    def _move(self, values: Mapping[str, int], address: int) -> str:
        """Return a `fim` instruction as a move, `a <- b`; an empty text if no move means the same.

        `values` are the instruction's operands, and `address` is its address.
        """
        column, step, count = values["col"], values["inc"], values["repeat"]
        if count == 1 and step == 0:
            columns = str(column)
        elif count > 1 and step == 1:
            columns = f"{column}:{column + count}"
        else:
            return ""
        move = spelt(values["n"], columns, self._functions.get(address))
        return move if "[" in move or count == 1 else ""


def _check(program: Program, island: int) -> Check:
    """Return a new `Check` for the words of an island of the program's device.

    Raises `ConfigError`.
    """
    device = config.parse(program.config_toml)
    memory = geometry(device)
    return Check(memory.banks, memory.rows, abilities(device, island))


def _instructions(section: Section) -> Iterator[tuple[Decoded, int]]:
    """Yield (instruction, address) for each word in a section that encodes an instruction."""
    whole = len(section.data) // _WORD * _WORD
    address = section.address
    for (word,) in struct.iter_unpack("<I", section.data[:whole]):
        with suppress(DecodeError):
            yield codec.decode(CORE, word), address
        address += _WORD


def _ambiguous(section: Section) -> Iterator[int]:
    """Yield the addresses of operations whose ALU function differs between repetitions of a loop.

    These are the operations before the first `mmr op` of a loop's body. In the first repetition
    they have the function that was set before the loop. In later repetitions they have the function
    that the body's last `mmr op` sets.
    """
    loops: list[tuple[int, list[int], bool]] = []  # passes, operations, whether op has been set
    for instruction, address in _instructions(section):
        match instruction.row.mnemonic:
            case "loop":
                loops.append((instruction.values["n"], [], False))
            case "fim":
                for _, operations, is_set in loops:
                    if not is_set:
                        operations.append(address)
            case "mmr" if instruction.values["register"] == 0:
                loops = [(count, operations, True) for count, operations, _ in loops]
            case "endloop" if loops:
                count, operations, is_set = loops.pop()
                if is_set and count > 1:
                    yield from operations


def _ranges(mask: int) -> str:
    """Return the banks of a mask in the syntax of `.block`, for example `0-3`."""
    ranges = bank_ranges(mask)
    return ranges[0] if len(ranges) == 1 else f"({', '.join(ranges)})"


def _register(instruction: Decoded) -> str:
    """Return the source text of an `mmr` instruction, such as `mmr op, mul`.

    If the value has a name, the text has the name; if the value is a column, the text has the
    column's address.
    """
    row = REGISTERS[instruction.values["register"]]
    value = instruction.values["value"]
    text = str(value)
    if row.words:
        text = row.words[value]
    elif row.address:
        text = hex(memory_map.ISLANDS + value * COLUMN_BYTES)
    return f"{instruction.row.mnemonic} {row.name}, {text}"


PRINTER = FimPrinter
