"""Replaces sections of several sources that differ only in numbers by calls of one macro.

The sources of a network's layers differ in few things: the sizes of arrays, how often a loop runs,
strides of transfers. Sections (`Listing.mark`) with the same name and the same statements become
one macro. Its parameters are what differs: numbers, data segments of packets, and lists of indices.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from itertools import chain

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.listing import Listing

MACROS = "macros.inc"  # the file of the macros
HALVES = r"""
.macro halves name, arguments:vararg # a table for each half of the units
\name ping, 0, PONG, \arguments
\name pong, PONG, 0, \arguments
.endm
"""
_HALF = ("h", "here", "other")  # parameters of the macros of tables that each half has
# What may differ: segments of a packet, indices of a repetition, numbers.
_ATOM = re.compile(
    r"(?<=data=)\((?:[^()]|\([^()]*\))*\)|(?<=\.irp [ijk], ).+"
    r"|(?<![\w.\\])-?(?:0x[0-9a-f]+|\d+)(?!\w)"
)
_STATEMENT = re.compile(r"(?P<code>[^#]*?)\s*(?:#\s*(?P<comment>.*))?")
# Words of a transfer; the last two are those of slabs with padding.
_WORDS = ("dst", "src", "bytes", "rows", "dst_stride", "src_stride", "base", "slab", "row")
_PLAIN = re.compile(r"[\w-]+")  # an argument that needs no quotation marks
_GAP = "\0"  # in place of an atom


@dataclass
class _Form:
    """Sections that have the same statements, except for their atoms and comments.

    Atoms are the pieces that may differ: segments of a packet, indices of a repetition, and
    numbers. `statements` has a gap in place of each atom. `atoms` and `comments` have one tuple for
    each section. `macro` is the macro's name; it is empty if a macro would save no lines.
    """

    name: str  # the name of the sections
    statements: tuple[str, ...]  # with a gap for each atom
    atoms: list[tuple[str, ...]] = field(default_factory=list)
    comments: list[tuple[str, ...]] = field(default_factory=list)
    macro: str = ""  # the macro's name; empty if a macro would save no lines

    @property
    def of_half(self) -> bool:
        """Whether the statements depend on which half of the on-chip units they are for."""
        return any(r"\h" in statement for statement in self.statements)

    @cached_property
    def parameters(self) -> list[str]:
        """The names of the macro's parameters: one for each gap in the statements, in their order.

        The name is empty for a gap in which all sections have the same atom, because such a gap
        needs no parameter.
        """
        columns = list(zip(*self.atoms, strict=True))
        names: dict[tuple[str, ...], str] = {}
        texts = iter(columns)
        result = []
        for statement in self.statements:
            before = ""
            for part in statement.split(_GAP)[:-1]:
                before += part
                column = next(texts)
                if len(set(column)) == 1:
                    result.append("")
                    continue
                if column not in names:
                    names[column] = _unused(_parameter(before), names.values())
                result.append(names[column])
        return result

    @cached_property
    def common_comments(self) -> set[str]:
        """The comments that are the same in all sections, at the same statement."""
        return {column[0] for column in zip(*self.comments, strict=True) if len(set(column)) == 1}


class MacroLibrary:
    """The macros of a network's sources. All sources must be added before any source is written."""

    def __init__(self, sources: Sequence[Listing]) -> None:
        self._forms: dict[tuple[str, tuple[str, ...]], _Form] = {}
        for source in sources:
            for name, lines in source.sections:
                if name:
                    statements, atoms, comments = _parsed(lines)
                    form = self._forms.setdefault((name, statements), _Form(name, statements))
                    form.atoms.append(atoms)
                    form.comments.append(comments)
        counts: dict[str, int] = {}
        for form in self._forms.values():
            size, uses = len(form.statements), len(form.atoms)
            if form.of_half or size + 2 + uses < size * uses:
                counts[form.name] = counts.get(form.name, 0) + 1
                form.macro = f"{form.name}_{counts[form.name]}"

    def text(self, source: Listing) -> str:
        """Return the text of `source`, with a call of a macro in place of each repeated section."""
        out = Listing()
        for name, lines in source.sections:
            statements, atoms, comments = _parsed(lines)
            form = self._forms.get((name, statements))
            if form is None or not form.macro:
                for line in lines:
                    out.line(line)
                continue
            arguments = {
                parameter: atom if _PLAIN.fullmatch(atom) else f'"{atom}"'
                for parameter, atom in zip(form.parameters, atoms, strict=True)
                if parameter
            }
            words = [f"{parameter}={value}" for parameter, value in arguments.items()]
            call = " ".join([form.macro, ", ".join(words)])
            if form.of_half:  # `halves` passes arguments by position
                call = "halves " + ", ".join([form.macro, *arguments.values()])
            what = next((one for one in comments if one and one not in form.common_comments), "")
            out.put(call.strip(), what)
        return out.text()

    def definitions(self) -> Listing:
        """Return a listing with the definitions of the macros."""
        out = Listing()
        if any(form.of_half for form in self._forms.values()):
            out.block(HALVES)
        for form in self._forms.values():
            if form.macro:
                _define(out, form)
        return out


def _define(out: Listing, form: _Form) -> None:
    """Write the macro of sections that have the same statements."""
    parameters = form.parameters
    names = [*(_HALF if form.of_half else ()), *dict.fromkeys(filter(None, parameters))]
    out.put(f".macro {form.macro} {', '.join(names)}".strip())
    places = iter(zip(parameters, form.atoms[0], strict=True))
    for statement, comment in zip(form.statements, form.comments[0], strict=True):
        first, *parts = statement.split(_GAP)
        text = first
        for part, (parameter, atom) in zip(parts, places, strict=False):
            text += (rf"\{parameter}" if parameter else atom) + part
            if parameter and re.match(r"[\w(]", part):
                text = text[: len(text) - len(part)] + r"\()" + part
        out.line(f"{text}  # {comment}" if comment in form.common_comments and comment else text)
    out.put(".endm")


def _parsed(lines: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return (statements of `lines` with gaps, atoms that were in the gaps, comments).

    An atom is a piece that may differ, such as a number (`_Form`). Each statement has one comment,
    which may be empty. A line that is only a comment is left out.
    """
    parts = [part for line in lines if (part := _parsed_line(line))[0].strip()]
    statements, atoms, comments = zip(*parts, strict=True) if parts else ((), (), ())
    return statements, tuple(chain.from_iterable(atoms)), comments


@lru_cache(2048)  # sections of several layers have many equal lines
def _parsed_line(line: str) -> tuple[str, tuple[str, ...], str]:
    """Return (statement with gaps, atoms that were in the gaps, comment) of a line."""
    parts = _STATEMENT.fullmatch(line)
    assert parts is not None
    code = parts["code"]
    return _ATOM.sub(_GAP, code), tuple(_ATOM.findall(code)), parts["comment"] or ""


def _parameter(before: str) -> str:
    """Return a parameter's name for the atom that follows the text `before` in its statement.

    It is the name of the operand, such as `data` after `data=`. If the operand has no name, it is
    the last word in `before`, mostly the statement's directive or mnemonic.
    """
    code = before.replace(_GAP, "0").split(":")[-1].strip()
    if code.startswith(".irp"):
        return "indices"
    if code.startswith(".word") and code.count(",") < len(_WORDS):
        return _WORDS[code.count(",")]
    operand = re.search(r"(\w+)=[^=,]*$", code) or re.match(r"\.(?:view|equ)\s+(\w+),", code)
    if operand is None:
        *_, operand = re.finditer(r"([A-Za-z_]\w*)", code)
    return operand[1].lower()


def _unused(name: str, others: Iterable[str]) -> str:
    """Return a name that is not in `others`: `name` itself, or `name` with a number."""
    taken = {*_HALF, *"ijk", *others}
    numbered = (f"{name}{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(one for one in numbered if one not in taken)
