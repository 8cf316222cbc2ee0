"""The program memory of an island: it decodes words and finds the blocks of a program."""

from __future__ import annotations

from collections.abc import Iterator

from macaw.emu.address_space import AddressSpace
from macaw.emu.faults import Fault
from macaw.isa.codec import Decoded, DecodeError, decode
from macaw.isa.fim import CORE
from macaw.isa.fim_check import Check, CheckError
from macaw.isa.fim_islands import Abilities, Geometry

WORD = 4  # bytes
_MEMORY = CORE.memories[0]


class ProgramMemory:
    """The words in the program memory of island number `island`, decoded."""

    def __init__(self, name: str, island: int, memory: AddressSpace) -> None:
        self.name, self.memory = name, memory
        self.start = _MEMORY.start(island)
        self.key = CORE.number + island, _MEMORY.name
        self._decoded: dict[int, Decoded] = {}

    def word(self, address: int) -> Decoded:
        """Return the decoded word at an address. Raises `Fault`."""
        pages = self.memory.own[self.key]
        offset = address - self.start
        if not 0 <= offset <= pages.size - WORD:
            raise Fault(
                "out-of-range access",
                f"fetch of a word at {address:#010x}, which is not in the {_MEMORY.name}"
                f" of {self.name}",
                {"address": address},
                core=self.name,
            )
        value = pages.words[offset // WORD]
        word = self._decoded.get(value)
        if word is None:
            try:
                word = decode(CORE, value, 32, address)
            except DecodeError as error:
                detail = error.detail or f"no word of {CORE.name}"
                message = f"the word {value:#010x}: {detail}"
                raise Fault(
                    error.kind, message, {"word": value}, core=self.name, address=address
                ) from None
            self._decoded[value] = word
        return word

    def block_words(self, address: int) -> Iterator[tuple[int, Decoded]]:
        """Yield the address and the decoded word of each instruction in the block of `address`."""
        while self.word(address - WORD).row.mnemonic != "block":
            address -= WORD
        while True:
            word = self.word(address)
            yield address, word
            if word.row.mnemonic == "end":
                return
            address += WORD

    def blocks(
        self, entry: int, geometry: Geometry, abilities: Abilities
    ) -> list[tuple[list[int], int]]:
        """Return a pair for each block of the program at `entry`: its banks, and where it begins.

        A block begins at the address of the word that follows the word `block`.

        Raises `Fault` if the program breaks a rule of the islands. `geometry` is the size of an
        island, and `abilities` says what it can do.
        """
        check = Check(geometry.banks, geometry.rows, abilities)
        blocks: list[tuple[list[int], int]] = []
        address = entry
        while True:
            word = self.word(address)
            try:
                if word.row.mnemonic == "endall":
                    check.finish()
                check.take(word.row, word.values, address)
                if word.row.mnemonic == "endall":
                    return blocks
            except CheckError as error:
                at = error.mark if isinstance(error.mark, int) else address
                raise Fault(
                    error.fault, str(error), {"word": at}, core=self.name, address=at
                ) from None
            address += WORD
            if word.row.mnemonic == "block":
                mask = word.values["banks"]
                blocks.append(([x for x in range(geometry.banks) if mask >> x & 1], address))
