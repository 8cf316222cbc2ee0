"""Decodes instruction words of nnp and chains of them, and caches the results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from macaw.emu.nnp.schedules.chain import Chain
from macaw.emu.nnp.state import NnpState
from macaw.isa.codec import Decoded, DecodeError, decode
from macaw.isa.nnp import CORE
from macaw.isa.nnp_chains import check_registers, complete, follow, goes_on
from macaw.isa.nnp_entries import check

WORD = 4  # bytes of an instruction
_CACHED_CHAINS = 4096


@lru_cache(maxsize=1 << 16)
def decode_word(word: int) -> Decoded:
    """Return the instruction that a word encodes. Raises `DecodeError`."""
    return decode(CORE, word, 8 * WORD)


@lru_cache(maxsize=1 << 16)
def continues_chain(word: int) -> bool:
    """Return whether a word belongs to the same chain as the previous word."""
    try:
        return goes_on(decode_word(word))
    except DecodeError:
        return False  # the core raises the fault when it executes the word


@lru_cache(maxsize=1 << 14)
def check_prefix(words: tuple[int, ...]) -> None:
    """Raise `ChainError` unless the words can be the beginning of a chain."""
    follow([decode_word(word) for word in words])


class ChainDecoder:
    """Decodes complete chains for one configuration, and caches them."""

    def __init__(self, config: Mapping[str, Any], state: NnpState) -> None:
        self.state = state
        self.sizes = {name: config[name] for name in config if name.startswith(f"{CORE.name}.")}
        # by the chain's words and the values of the registers
        self._chains: dict[tuple[tuple[int, ...], bytes], Chain] = {}

    def chain(self, words: tuple[int, ...]) -> Chain:
        """Return the chain that these words form with the present values of the registers.

        Raises `ChainError` if the words are not one complete chain.
        """
        key = words, self.state.scalars.tobytes()
        chain = self._chains.get(key)
        if chain is None:
            rows, scalars = [decode_word(word) for word in words], self.state.scalar_values()
            follow(rows)
            complete(rows)
            check_registers(scalars)
            check(rows, scalars, self.sizes)
            if len(self._chains) >= _CACHED_CHAINS:
                self._chains.clear()
            chain = self._chains[key] = Chain(rows, scalars)
        return chain
