"""The decoder of a scalar core: it fetches instructions by address, and decodes each word once."""

from __future__ import annotations

from collections.abc import Callable

from macaw.emu.address_space import AddressSpace
from macaw.emu.faults import Fault
from macaw.emu.pages import Pages, Sleeper
from macaw.isa.codec import Decoded, DecodeError, decode
from macaw.isa.model import Core as Table


class Decoder:
    """Fetches and decodes instructions.

    Before a fetch, it calls `on_sleeper` if another core (the sleeper) may have put off writes to
    the memory that contains the instruction.
    """

    def __init__(
        self, table: Table, memory: AddressSpace, on_sleeper: Callable[[Sleeper], None]
    ) -> None:
        self.table = table
        self.memory = memory
        self._on_sleeper = on_sleeper
        self._words: dict[int, Decoded] = {}

    def fetch(self, address: int) -> Decoded:
        """Return the instruction at `address`. Raises `Fault` as `locate` and `decode` do."""
        pages, offset = self.locate(address)
        return self.decode(address, pages.words[offset >> 2])

    def locate(self, address: int) -> tuple[Pages, int]:
        """Return the memory that contains the instruction at `address`, and its offset there.

        Raises `Fault` if the address is no multiple of 4, or if no memory contains it.
        """
        if address & 3:
            raise Fault(
                "misaligned access",
                f"fetch of an instruction at {address:#010x}, which is no multiple of 4",
                {"address": address, "size": 4},
            )
        pages, offset = self.memory.locate(address, 4, "fetch")
        if pages.sleeper is not None:
            self._on_sleeper(pages.sleeper)
        return pages, offset

    def decode(self, address: int, word: int) -> Decoded:
        """Decode `word`, which was fetched from `address`, and return the instruction.

        Raises `Fault` if the word is no instruction of the core.
        """
        found = self._words.get(word)
        if found is None:
            try:
                found = decode(self.table, word, 32, address)
            except DecodeError as error:
                detail = error.detail or f"no instruction of {self.table.name}"
                raise Fault(
                    error.kind, f"the word {word:#010x}: {detail}", {"word": word}
                ) from None
            self._words[word] = found
        return found
