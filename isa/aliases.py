"""Finds the pseudo-instruction that a disassembly prints for a word: `ret` for `jalr zero, 0(ra)`.

A pseudo-instruction is an alias if no instruction has its mnemonic, and one of its expansions is a
single instruction with at least one fixed operand. If several aliases match, the alias with the
most fixed operands is used. If several of these have the same number, the first one in the table is
used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from macaw.isa.lazy_pattern import lazy_pattern
from macaw.isa.model import Core
from macaw.isa.rows import Alternative, Pseudo
from macaw.isa.typed_records import NamedTuple

_PLACEHOLDER = lazy_pattern(r"\\\{(\w+)\\\}")
_LOW = lazy_pattern(r"%lo\((\{\w+\})\)")  # `%lo` of a small number is that number


class _Alias(NamedTuple):
    pattern: re.Pattern[str]  # matches the instruction's text
    syntax: str  # what replaces it, with `{name}` for operands
    fixed: int  # how many operands the pattern fixes
    word: str  # a fixed operand; most texts lack it, so the pattern need not be tried
    number: str  # the operand whose value `when` accepts or refuses
    when: Callable[[int], bool] | None

    def pseudo_text(self, text: str) -> str | None:
        """Return the pseudo-instruction for an instruction's text; None if there is no match."""
        match = self.pattern.fullmatch(text) if self.word in text else None
        if match is None or (self.when is not None and not self.when(int(match[self.number], 0))):
            return None
        return self.syntax.format_map(match.groupdict())


def with_alias(core: Core, text: str) -> str:
    """Return the pseudo-instruction for an instruction's text; the text itself if none matches.

    `text` is the text that `codec.describe` returned.
    """
    for alias in _aliases(core).get(text.partition(" ")[0], ()):
        result = alias.pseudo_text(text)
        if result is not None:
            return result
    return text


@cache
def _aliases(core: Core) -> dict[str, list[_Alias]]:
    """Return the aliases, by the mnemonic of the instruction that they replace.

    In each list, aliases with more fixed operands come first.
    """
    by_mnemonic: dict[str, list[_Alias]] = {}
    own = {row.mnemonic for row in core.instructions}
    for pseudo in (row for row in core.pseudos if row.mnemonic not in own):
        for alternative in (x for x in pseudo.alternatives if len(x.lines) == 1):
            alias = _alias(pseudo, alternative)
            if alias.fixed:
                by_mnemonic.setdefault(alternative.lines[0].partition(" ")[0], []).append(alias)
    return {
        name: sorted(rows, key=lambda alias: -alias.fixed) for name, rows in by_mnemonic.items()
    }


def _alias(pseudo: Pseudo, alternative: Alternative) -> _Alias:
    line = _LOW.sub(r"\1", alternative.lines[0]) if alternative.when else alternative.lines[0]
    pattern = _PLACEHOLDER.sub(r"(?P<\1>[^,() ]+)", re.escape(line))
    syntax = re.sub(r"\w+", r"{\g<0>}", pseudo.syntax)
    words = re.findall(r"[^,() ]+", line.partition(" ")[2])
    fixed = [word for word in words if not word.startswith("{")]
    return _Alias(
        re.compile(pattern),
        f"{pseudo.mnemonic} {syntax}".rstrip(),
        len(fixed),
        max(fixed, key=len, default=""),
        pseudo.choose,
        alternative.when,
    )
