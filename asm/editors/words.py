"""The words of the language and the patterns of its tokens, for the generated editor files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from macaw.asm import reference
from macaw.asm.program import DTYPE_SIZES, SYMBOL_KINDS
from macaw.isa import config, registry
from macaw.isa.kinds import Kind
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.model import Core

QUOTED = r'"(?:\\.|[^"\\\n])*"'  # the regular expression of a name in quotes
CORE = ".core"  # the directive that selects the core whose mnemonics follow
_PLACES = ("all",)  # words that packets accept and no table has


@dataclass(frozen=True)
class CoreWords:
    """The words that may occur in the parts of one core.

    `of_mnemonic` has, by mnemonic, the flags and choices that its operands accept; `carried` has,
    by mnemonic, the names of operands that the instruction word does not contain, such as `data=`.
    `records` are the words that members of packets, sequences and the like accept.
    """

    mnemonics: frozenset[str]
    directives: frozenset[str]
    registers: frozenset[str]
    of_mnemonic: Mapping[str, frozenset[str]]  # flags and choices of its operands
    carried: Mapping[str, frozenset[str]]  # names besides the operands of a mnemonic: `data=`
    records: frozenset[str]  # choices in structures: packets, sequences


def _kind_words(kinds: Iterable[Kind | None]) -> frozenset[str]:
    return frozenset(word for kind in kinds if kind is not None for word in kind.words())


@cache
def of_core(core: Core) -> CoreWords:
    """Return the words that may occur in the parts of a core."""
    registers = {name for file in core.files for names in file.names for name in names}
    registers |= {special.name for special in core.specials}
    records = _kind_words(member.kind for item in core.structures for member in item.members)
    of_mnemonic = {
        name: _kind_words(operand.kind for row in rows for operand in row.operands) - registers
        for name, rows in core.rows.items()
    }
    carried = {
        row.mnemonic: frozenset(form for form, _ in row.carries) for row in core.instructions
    }
    return CoreWords(
        frozenset(core.rows),
        frozenset(row.name for row in core.directives),
        # A register that no operand takes by name is a word like any other.
        frozenset(registers & _kind_words(
            operand.kind for rows in core.rows.values() for row in rows for operand in row.operands
        )),
        of_mnemonic,
        carried,
        records.union(_PLACES) if any(carried.values()) else records,
    )  # fmt: skip


@cache
def every() -> Mapping[str, CoreWords]:
    """Return the words of all cores, by core name."""
    return {core.name: of_core(core) for core in registry.cores()}


@cache
def directives() -> frozenset[str]:
    """Return the names of the directives that every part accepts, except `=`."""
    return frozenset(row.name for row in reference.directives() if row.name.startswith("."))


@cache
def of_directive() -> Mapping[str, frozenset[str]]:
    """Return the fixed words that may follow a directive, by directive name."""
    result = {
        row.name: frozenset(DTYPE_SIZES)
        for row in reference.directives()
        if "dtype" in row.syntax.split(", ") or " dtype" in row.syntax
    }
    result[CORE] = frozenset(registry.names())
    result[".device"] = frozenset(config.presets())
    elf_names = [f"STT_{kind.upper()}" for kind in SYMBOL_KINDS]
    result[".type"] = frozenset((*SYMBOL_KINDS, *elf_names, "function"))
    return result


@cache
def operand_words() -> frozenset[str]:
    """Return all words that operands accept, except registers."""
    words: set[str] = set()
    for core in every().values():
        words |= core.records.union(*core.of_mnemonic.values())
    return frozenset(words.union(*of_directive().values()))


@cache
def registers() -> frozenset[str]:
    """Return the names of all registers of all cores."""
    return frozenset(name for core in every().values() for name in core.registers)


@cache
def terminal(name: str) -> str:
    """Return the regular expression of a terminal in the grammar, without capturing groups."""
    text = (files("macaw.asm") / "grammar.lark").read_text("utf-8")
    match = re.search(rf"^{name}(?:\.\d+)?:\s*/(.*)/\s*$", text, re.MULTILINE)
    assert match is not None, name
    return re.sub(r"(?<!\\)\((?!\?)", "(?:", match[1])


def alternatives(words: Iterable[str]) -> str:
    """Return a regular expression that matches one of the words; longer words are tried first."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))
