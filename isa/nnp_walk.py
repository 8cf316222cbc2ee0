"""Checks the instruction words of nnp in a program, in their order, against all rules of nnp.

The check follows the values of s_wr's registers from reset on. After the end of a program (a word
0) it treats these values as unknown, because the next word may be the entry of another program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from macaw.isa.codec import Decoded, DecodeError, decode
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.nnp import BEGIN, CORE, FINISH, RESET
from macaw.isa.nnp_chains import ChainError, complete, follow, goes_on, registers, settings, step
from macaw.isa.nnp_entries import check


@dataclass(frozen=True)
class Broken:
    """A broken rule: the error, the index of the wrong word, and the range of its chain's words."""

    error: ChainError
    at: int
    words: range


def broken(words: Sequence[int | None], sizes: Mapping[str, int]) -> Iterator[Broken]:
    """Yield the broken rules in the words of a part, at most one for each chain.

    None in `words` means an unknown word; its chain is not checked. `sizes` are the values of
    settings by name.
    """
    return _Walk(words, sizes).run()


class _Walk:
    def __init__(self, words: Sequence[int | None], sizes: Mapping[str, int]) -> None:
        self._words, self._sizes = words, sizes
        self._scalars: dict[str, int] = dict(RESET)
        self._chain: list[Decoded] = []
        self._begin = 0  # index of the chain's first word
        self._lost = False  # the current chain contains an unknown word
        self._good: set[tuple[object, ...]] = set()  # chains that satisfy the rules
        self._decoded: dict[int, Decoded | None] = {}

    def run(self) -> Iterator[Broken]:
        ended = True  # the last instruction ended a program, or there is none
        for place, word in enumerate(self._words):
            instruction = None if word is None else self._decode(word)
            if instruction is not None:
                yield from self._take(instruction, place)
                ended = step(instruction).role == FINISH
            elif word == 0:
                yield from self._stop(place, ended)
                ended = True
            else:  # an unknown word: it may belong to the chain, or set a register
                self._chain, self._lost, ended = [], True, True
                self._scalars.clear()
        yield from self._stop(len(self._words), ended)

    def _decode(self, word: int) -> Decoded | None:
        if word not in self._decoded:
            try:
                self._decoded[word] = decode(CORE, word)
            except DecodeError:
                self._decoded[word] = None
        return self._decoded[word]

    def _take(self, instruction: Decoded, place: int) -> Iterator[Broken]:
        if goes_on(instruction):
            if not self._chain:
                self._begin = place
            self._chain.append(instruction)
            return
        yield from self._close(instruction.row.mnemonic)
        if step(instruction).role == BEGIN:
            self._chain, self._begin = [instruction], place
        elif "reg" in instruction.values:
            try:
                self._scalars.update(settings(instruction))
            except ChainError as error:
                for name in registers(instruction):
                    self._scalars.pop(name, None)
                yield Broken(error, place, range(place, place + 1))

    def _stop(self, place: int, ended: bool) -> Iterator[Broken]:
        """Yield the rules that are broken at the end of a program, directly before word `place`.

        The program's last chain must be complete. `ended` is false if the program's last
        instruction is not end_chain; this breaks a rule, too.
        """
        yield from self._close("")
        self._scalars.clear()
        if not ended:
            error = ChainError("end", 0, "end_chain is missing after the last instruction")
            yield Broken(error, place - 1, range(place - 1, place))

    def _close(self, ender: str) -> Iterator[Broken]:
        """Close the open chain, if there is one; yield the rule that it breaks, if any.

        `ender` is the mnemonic of the instruction that ends the chain; empty at the end of a
        program.
        """
        chain, self._chain = self._chain, []
        lost, self._lost = self._lost, False
        if lost or not chain:
            return
        words = range(self._begin, self._begin + len(chain))
        key = (*self._words[words.start : words.stop], ender, *self._scalars.items())
        if key in self._good:
            return
        try:
            follow(chain)
            complete(chain, ender)
            check(chain, self._scalars, self._sizes)
        except ChainError as error:
            last = len(chain) if ender else len(chain) - 1
            yield Broken(error, self._begin + min(error.at, last), words)
        else:
            self._good.add(key)
