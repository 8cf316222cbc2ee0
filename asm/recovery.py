"""Helps the assembler to continue after a mistake: finds valid parts of lines, guesses words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.parser import labels_of, parse
from macaw.asm.syntax import Mistake, Name, Statement
from macaw.isa import registry
from macaw.isa.lazy_pattern import lazy_pattern
from macaw.isa.model import Core

# `NAME =` in a line that cannot be parsed; and characters that cannot end a statement.
_ASSIGNMENT = lazy_pattern(
    r"""(?:\s*[\w.$]+\s*:)*\s*(?:([A-Za-z_.$][\w.$]*)|"([^"\\]+)")\s*=(?!=)""", re.ASCII
)
_DANGLING = lazy_pattern(r"""[^\w.$):\]"']*$""", re.ASCII)
_PARAMETER = lazy_pattern(r"\\[\w.$]+", re.ASCII)
_GUESS = lazy_pattern(r"did you mean '([^']+)'\?")
_MOST_CUTS = 20  # tries to find the statement before a mistake,
_MOST_TEXT = 4000  # and characters that all tries together may read

# Directives of GNU as that Macaw lacks, and what to write instead.
_NO_ALTERNATIVE = "it has no meaning on these cores"
_ELSEWHERE = {
    ".altmacro": "parameters are written \\name here",
    ".noaltmacro": "leave it out: parameters are written \\name",
    ".tdata": _NO_ALTERNATIVE,
    ".tbss": _NO_ALTERNATIVE,
    ".struct": "write .equ for each member, as in '.equ member, 4'",
    ".offset": "write .equ for each member, as in '.equ member, 4'",
    ".reloc": "an instruction with the symbol makes its relocation",
    ".weakref": "write .weak and the other symbol's name",
}


def assigned_symbol(text: str) -> Name | None:
    """Return the symbol that a wrong line should set; None if the line is no assignment."""
    match = _ASSIGNMENT.match(text)
    return None if match is None else Name(*match.span(match.lastindex or 0), match[1] or match[2])


def parsable_start(text: str, end: int) -> Statement:
    """Return the longest start of `text` that is a statement and ends before the mistake at `end`.

    The statement has at least the line's labels.
    """
    begin = text[:end]
    budget = _MOST_TEXT
    for _ in range(_MOST_CUTS):
        budget -= len(begin)
        if budget < 0:
            break  # the search takes quadratic time
        begin = _DANGLING.sub("", begin)
        try:
            return parse(begin)
        except Mistake:
            begin = begin[: max(0, *(begin.rfind(separator) for separator in ", '\""))]
    return Statement(0, 0, labels_of(text), None, ())


def guessed_word(mistake: Mistake) -> str | None:
    """Return the word that the hint of a mistake suggests; None if the hint suggests no word."""
    match = _GUESS.fullmatch(mistake.hint)
    return None if match is None else match[1]


def suggested_word(hint: str) -> str | None:
    """Return the word that the hint of a diagnostic suggests; None if it suggests no word."""
    match = _GUESS.match(hint)
    return None if match is None else match[1]


def hint_at_parameter(mistake: Mistake, text: str, names: Sequence[str]) -> None:
    r"""Add a hint to the error for a `\word` that is no parameter of the macro.

    `text` is the text of the line. If `\word` begins with one of the parameters `names`, the hint
    shows how to separate the parameter from the rest. Otherwise it suggests the most similar one.
    """
    match = _PARAMETER.match(text, mistake.start)
    if match is None:
        return
    word = match[0]
    begin = max((name for name in names if word.startswith(name)), key=len, default="")
    if begin and begin != word:
        mistake.hint = f"'{word}' is one name; write {begin}\\(){word[len(begin) :]}"
    else:
        mistake.hint = did_you_mean(word, names)


def outside_of_parts(head: Name) -> Mistake:
    """Return the error for a mnemonic before the first part."""
    hint = f"begin one, as in '.core {registry.names()[0]}'"
    return Mistake(f"'{head.text}' is in no part", head, hint)


def unknown_instruction(head: Name, core: Core, known: Iterable[str]) -> Mistake:
    """Return the error for a word that is neither a mnemonic nor a directive of a core's part.

    `known` are the names of directives and macros, for the hint.
    """
    if head.text.startswith("."):
        return unknown_directive(head, known)
    others = [other.name for other in registry.cores() if head.text in other.rows]
    if others:
        have = "has" if len(others) == 1 else "have"
        hint = f"{' and '.join(others)} {have} it; this part is of {core.name}"
    else:
        # A mnemonic without its element type, such as `vadd` of `vadd.b` and `vadd.h`.
        longer = _names_by_start(tuple(core.rows)).get(head.text, ())
        there = f"there are {', '.join(longer)}" if len(longer) > 1 else ""
        hint = there or similar(head.text, (*core.rows, *known))
        hint = hint or f"'macaw isa {core.name}' lists what it has"
    return Mistake(f"{core.name} has no instruction '{head.text}'", head, hint)


def similar(word: str, known: tuple[str, ...]) -> str:
    """Return a hint that suggests the mnemonic or macro in `known` that is most similar to `word`.

    If `word` with a dot in front is a directive, the hint names the directive.
    """
    if f".{word}" in known:
        return f"did you mean '.{word}'?"
    return did_you_mean(word, _words_with_dots(known, word.count(".")))


@lru_cache(maxsize=16)  # thousands of wrong lines are compared with the same names
def _words_with_dots(known: tuple[str, ...], dots: int) -> frozenset[str]:
    """Return the names in `known` with this number of dots, except those that begin with a dot."""
    return frozenset(name for name in known if not name.startswith(".") and name.count(".") == dots)


@cache
def _names_by_start(names: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    """Return the names that contain dots, by their beginnings: the texts before each dot.

    For example, `vadd.b` and `vadd.h` are listed under `vadd`.
    """
    by_start: dict[str, list[str]] = {}
    for name in names:
        for point in re.finditer(r"\.", name):
            by_start.setdefault(name[: point.start()], []).append(name)
    return by_start


def unknown_directive(head: Name, known: Iterable[str]) -> Mistake:
    """Return the error for a directive that does not exist or belongs to other cores' parts."""
    cores = registry.cores()
    owners = [core.name for core in cores if any(x.name == head.text for x in core.directives)]
    names = [name for name in known if name.startswith(".")]
    hint = _ELSEWHERE.get(head.text) or did_you_mean(head.text, names)
    if owners:
        hint = f"parts of {' and '.join(owners)} have it"
    return Mistake(f"unknown directive '{head.text}'", head, hint)
