"""Helps the assembler to continue after a mistake: the good part of a wrong line, and guesses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.parser import labels_of, parse
from macaw.asm.syntax import Mistake, Name, Statement
from macaw.isa import registry
from macaw.isa.model import Core

# `NAME =` in a line that cannot be parsed; and characters that cannot end a statement.
_ASSIGNMENT = re.compile(r"(?:\s*[\w.$]+\s*:)*\s*([A-Za-z_.$][\w.$]*)\s*=(?!=)", re.ASCII)
_DANGLING = re.compile(r"""[^\w.$):\]"']*$""", re.ASCII)
_PARAMETER = re.compile(r"\\[\w.$]+", re.ASCII)
_GUESS = re.compile(r"did you mean '(.+)'\?")
_MOST_CUTS = 20  # tries to find the statement before a mistake,
_MOST_TEXT = 4000  # and characters that all tries together may read

# Directives of GNU as that Macaw lacks, and what to write instead.
_LEAVE_OUT = "leave it out"
_ELSEWHERE = {
    **dict.fromkeys((".file", ".loc", ".ident", ".attribute", ".option", ".end"), _LEAVE_OUT),
    **dict.fromkeys((".cfi_startproc", ".cfi_endproc", ".cfi_def_cfa_offset"), _LEAVE_OUT),
    **dict.fromkeys((".cfi_offset", ".cfi_restore", ".cfi_sections", ".hidden"), _LEAVE_OUT),
    ".local": "a name is its file's own unless .global shares it",
    ".extern": "leave it out; .global in both files shares a name",
    ".weak": "there are no weak symbols; .global shares a name",
    ".comm": "write a label and .space in .bss, and .global",
    ".lcomm": "write a label and .space in .bss",
    ".org": "write .space or .balign",
    ".print": "write .warning",
    ".rep": "did you mean '.rept'?",
    ".irep": "did you mean '.irp'?",
    ".endc": "did you mean '.endif'?",
    ".altmacro": "parameters are written \\name here",
    ".pushsection": "write .section, and the section's name again to go back",
    ".popsection": "write the name of the section to go back to",
    ".previous": "write the name of the section to go back to",
    ".subsection": "write the data in the order that they shall have",
    ".uleb128": "write the bytes with .byte",
    ".sleb128": "write the bytes with .byte",
}


def assigned_symbol(text: str) -> Name | None:
    """Return the symbol that a wrong line would assign; None if the line is no assignment."""
    match = _ASSIGNMENT.match(text)
    return None if match is None else Name(*match.span(1), match[1])


def parsable_start(text: str, end: int) -> Statement:
    """Return the longest statement before the mistake at `end` that can be parsed.

    It has at least the line's labels.
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
    """Return the word that a mistake's hint suggests; None if it suggests none."""
    match = _GUESS.fullmatch(mistake.hint)
    return None if match is None else match[1]


def hint_at_parameter(mistake: Mistake, text: str, names: Sequence[str]) -> None:
    r"""Add a hint to a mistake at a `\word` that is no parameter of the macro.

    The hint suggests the most similar of the parameters `names`.
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
    """Return the mistake of a mnemonic before the first part."""
    hint = f"begin one, as in '.core {registry.cores()[0].name}'"
    return Mistake(f"'{head.text}' stands in no part", head, hint)


def unknown_instruction(head: Name, core: Core, known: Iterable[str]) -> Mistake:
    """Return the mistake of a word that is no mnemonic or directive of a core's part.

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
        hint = there or did_you_mean(head.text, [*core.rows, *known])
    return Mistake(f"{core.name} has no instruction '{head.text}'", head, hint)


@cache
def _names_by_start(names: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    """Return the names that have points by each of their prefixes that ends before a point.

    For example, `vadd.b` and `vadd.h` are listed under `vadd`.
    """
    by_start: dict[str, list[str]] = {}
    for name in names:
        for point in re.finditer(r"\.", name):
            by_start.setdefault(name[: point.start()], []).append(name)
    return by_start


def unknown_directive(head: Name, known: Iterable[str]) -> Mistake:
    """Return the mistake of a directive that does not exist or belongs to parts of other cores."""
    cores = registry.cores()
    owners = [core.name for core in cores if any(x.name == head.text for x in core.directives)]
    hint = _ELSEWHERE.get(head.text) or did_you_mean(head.text, known)
    if owners:
        hint = f"parts of {' and '.join(owners)} have it"
    return Mistake(f"unknown directive '{head.text}'", head, hint)
