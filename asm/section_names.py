"""Chooses the section of a part into which the bytes of a section of the source go.

The choice depends on the name and the flags in the `.section` line of GNU as.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from macaw.isa.lazy_dataclass import dataclass

# The names that compilers and linkers know, by the section of a part that takes them; with each
# name go those that begin with it and a dot, such as `.text.startup`.
_FAMILIES: Mapping[str, Sequence[str]] = {
    ".text": (".text",),
    ".rodata": (".rodata", ".srodata"),
    ".data": (".data", ".sdata"),
    ".bss": (".bss", ".sbss"),
}
# For debuggers, linkers and unwinding: no program loads them.
_DROPPED = (
    ".debug", ".zdebug", ".stab", ".comment", ".note", ".eh_frame", ".riscv.attributes",
    ".gnu", ".llvm",
)  # fmt: skip
DROPPED = ""  # the section name that means: no section


@dataclass(frozen=True)
class SectionWords:
    """The operands of `.section` after the name.

    `flags` is None if the line has no flags. `kind` is the type, such as "nobits". `group` is the
    name of a group of sections that several files may contain; a program includes the group from
    one of these files.
    """

    flags: str | None = None
    kind: str = ""
    group: str = ""
    number: int = 0  # the number of the subsection


def section_of(name: str, words: SectionWords) -> str | None:
    """Return the section of a part that receives the bytes of the section `name` of a source.

    The result is `.text`, `.rodata`, `.data` or `.bss`, or `DROPPED` if no program loads the
    section. Return None for an unknown name without flags.
    """
    for section, begins in _FAMILIES.items():
        if any(_begins(name, begin) for begin in begins):
            return section
    if any(_begins(name, begin) for begin in _DROPPED) or name.startswith(".debug_"):
        return DROPPED
    if words.flags is None:
        return None
    if "a" not in words.flags or "e" in words.flags:
        return DROPPED
    if "x" in words.flags:
        return ".text"
    if words.kind == "nobits":
        return ".bss"
    return ".data" if "w" in words.flags else ".rodata"


def _begins(name: str, begin: str) -> bool:
    return name == begin or name.startswith(f"{begin}.")
