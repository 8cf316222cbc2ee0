"""Prints the reference of instructions as plain text of 80 columns, for `macaw isa`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial

from macaw.isa import codec, pages
from macaw.isa.config import describe
from macaw.isa.errors import MacawError
from macaw.isa.model import Core, Structure
from macaw.isa.pages import Page
from macaw.isa.rows import Row

WIDTH = 80
_fill = partial(textwrap.wrap, break_on_hyphens=False)


class UnknownRowError(MacawError, LookupError):
    """The error for a name that is neither an instruction nor a structure of the core."""


def render(core: Core, row: Row | Structure) -> str:
    """Return the page of an instruction or structure as text: bits, operands, meaning, ..."""
    if isinstance(row, Structure):
        return text(pages.structure(core.name, row))
    return text(pages.row(core, row))


@cache  # an editor asks for all pages of a core at each completion
def page(core: Core, name: str) -> str:
    """Return the pages of all rows of the mnemonic `name`, or the page of the structure `name`.

    Raises `UnknownRowError`.
    """
    rows: list[Row | Structure] = list(core.rows.get(name, ()))
    rows += [item for item in core.structures if item.name == name]
    if not rows:
        raise UnknownRowError(f"{core.name} has no '{name}'")
    return "\n".join(render(core, row) for row in rows)


def names(core: Core) -> tuple[str, ...]:
    """Return the names of all mnemonics and structures of a core."""
    return (*core.rows, *(item.name for item in core.structures))


def find(pages: Iterable[Page], name: str) -> list[Page]:
    """Return the pages whose name is `name`, then the pages that have `name` as another name.

    The search ignores case, and takes blanks and underscores as equal. If pages of several owners,
    such as cores, are otherwise equal, the result has one page for them that names all owners.
    """
    word = _folded(name)
    listed = list(pages)
    entries = [item for item in listed if _folded(item.name) == word]
    entries += [item for item in listed if word in map(_folded, item.also)]
    owners: dict[Page, list[str]] = {}
    for item in entries:
        owners.setdefault(replace(item, owner=""), []).append(item.owner)
    return [replace(item, owner=", ".join(dict.fromkeys(mine))) for item, mine in owners.items()]


def _folded(name: str) -> str:
    return " ".join(name.lower().replace("_", " ").split())


def text(item: Page) -> str:
    """Return a page as text of 80 columns."""
    lines = [
        _heading(item.title, f"{item.owner}, {item.detail or item.kind}"),
        "",
        *_wrapped(item.meaning),
    ]
    if item.bits:
        lines += ["", *textwrap.indent(item.bits, "  ").split("\n")]
    if item.members:
        lines += ["", "  offset type  member"]
    for offset, kind, name, meaning in item.members:
        head = f"  {offset:>6} {kind:<5} {name:<14} "
        lines += _fill(meaning, WIDTH, initial_indent=head, subsequent_indent=" " * 29)
    lines += [""] if item.entries else []
    for heading, paragraphs in item.entries:
        for place, paragraph in enumerate(paragraphs):
            lines += _entry("" if place else heading, paragraph)
    return "\n".join(lines) + "\n"


def summary(core: Core) -> str:
    """Return an overview of a core, with one line for each instruction, register, counter, ..."""
    lines = [f"{core.name}: {core.title}"]
    families = dict.fromkeys((*core.order, *(row.family for row in core.instructions)))
    for family in families:
        rows = [row for row in core.instructions if row.family == family]
        lines += _list(family, ((codec.syntax(row), row.meaning) for row in rows))
    lines += _list("pseudo-instruction", ((codec.syntax(r), r.meaning) for r in core.pseudos))
    lines += _list("structure", ((item.name, item.meaning) for item in core.structures))
    lines += _list("directive", ((item.syntax, item.meaning) for item in core.directives))
    lines += _list(
        "register",
        (
            (" to ".join(dict.fromkeys((x.names[0][0], x.names[-1][0]))), x.meaning)
            for x in core.files
        ),
    )
    lines += _list("special register", ((item.name, item.meaning) for item in core.specials))
    lines += _list("memory-mapped register", ((x.name, x.meaning) for x in core.registers))
    lines += _list("memory", ((item.name, item.meaning) for item in core.memories))
    lines += _list("window", ((item.name, item.meaning) for item in core.windows))
    lines += _list("queue", ((item.name, item.meaning) for item in core.queues))
    lines += _list("counter", ((item.name, item.meaning) for item in core.counters))
    lines += _list("rule", ((item.name, item.meaning) for item in core.rules))
    lines += _list("fault", ((item.name, item.meaning) for item in core.faults))
    lines += _list("setting", ((item.name, describe(item)) for item in core.settings))
    return "\n".join(lines) + "\n"


def _list(title: str, entries: Iterable[tuple[str, str]]) -> list[str]:
    """Return the heading `title` and its entries as lines; no lines if there are no entries."""
    column = 26
    lines = []
    for name, meaning in entries:
        if len(name) > column - 2:
            lines.append(f"  {name}")
            name = ""
        lines += _fill(
            meaning,
            WIDTH + 20,
            initial_indent=f"  {name:<{column}}",
            subsequent_indent=" " * (column + 2),
        )
    return ["", title, *lines] if lines else []


def _heading(left: str, right: str) -> str:
    """Return a line with a name on the left and its kind at the right margin.

    If the line would be too long, return two lines.
    """
    if len(left) + 2 + len(right) > WIDTH:
        lines = _fill(left, WIDTH, subsequent_indent="  ")
        return "\n".join([*lines, f"{right:>{WIDTH}}"])
    return f"{left}{right:>{WIDTH - len(left)}}"


def _wrapped(text: str) -> list[str]:
    return _fill(text, WIDTH - 2, initial_indent="  ", subsequent_indent="  ")


def _entry(title: str, text: str) -> list[str]:
    """Return the lines of the paragraph `text` with a title. A line of code keeps its indentation."""
    first = f"  {title:<12}" + " " * (len(text) - len(text.lstrip()))
    return _fill(text.lstrip(), WIDTH, initial_indent=first, subsequent_indent=" " * 14)
