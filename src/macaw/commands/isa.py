"""The command `macaw isa`: prints the reference of the instruction sets, from their tables."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from macaw.commands import suggestions
from macaw.commands.options import plain_option
from macaw.errors import EXIT_SUCCESS, InputError

if TYPE_CHECKING:
    from macaw.isa.model import Core
    from macaw.isa.pages import Page

MOST_MENTIONED = 8  # names in a hint
SHORTEST = 3  # letters of a word that is looked for in meanings


def _complete(_ctx: click.Context, _option: click.Parameter, start: str) -> list[str]:
    """Return the names of pages that start with `start`, for shell completion."""
    from macaw.isa import registry

    pages = [*_table_pages(registry.cores(), True)]
    pages += _language_pages() if start[:1] in (".", "%") else ()
    return sorted({item.name for item in pages if item.name.startswith(start)})


@click.command("isa", short_help="Describe instructions, from the tables.")
@click.argument("words", nargs=-1, metavar="[NAME]", shell_complete=_complete)
@click.option(
    "--core", "core", metavar="C", help="Search only this core.", shell_complete=suggestions.cores
)
@plain_option
def command(words: tuple[str, ...], core: str | None) -> int:
    """Show an instruction: bits, operands, meaning, cycles, example.

    NAME may also be a pseudo-instruction, a directive (.seq), a structure in memory (packet), a
    register (gr3), a queue, a counter, a fault (segment mismatch), a setting of the device
    (dist.bus_bytes), a cause of a profile (imbalance), or a core. Without NAME, the command lists
    the mnemonics of all cores. With --core, it lists everything of that core, one line for each
    name.
    """
    from macaw.isa import manual, registry
    from macaw.terminal.source_output import print_page

    if core == "":
        raise click.UsageError("the name after --core is empty")
    cores = (registry.core(core),) if core else registry.cores()
    name = " ".join(words).strip()
    if words and not name:
        raise click.UsageError("the NAME is empty")
    if name.lower() in registry.names() and not core:
        click.echo(manual.summary(registry.core(name.lower())), nl=False)
    elif name:
        for place, item in enumerate(_find_pages(cores, name, core is None)):
            click.echo("\n" if place else "", nl=False)
            print_page(item)
    elif core:
        click.echo(manual.summary(cores[0]), nl=False)
    else:
        click.echo("\n".join(_mnemonic_list(item) for item in cores))
        click.echo(_directive_list())
        click.echo(
            "`macaw isa NAME` describes one, `macaw isa --core C` lists all of a core, and"
            "\n`macaw device base` lists the settings of the device with their ranges."
        )
    return EXIT_SUCCESS


def _table_pages(cores: tuple[Core, ...], device: bool) -> Iterator[Page]:
    """Yield all pages of the tables of `cores`.

    With `device`, also yield the pages of the device, the trace block and the causes of a profile.
    """
    from macaw.isa import pages

    for core in cores:
        yield from pages.of_core(core)
    if device:
        yield from pages.of_device()
        yield from pages.of_trace()
        yield from pages.of_causes()


def _language_pages() -> Iterator[Page]:
    """Yield all pages of the assembly language. This loads the assembler."""
    from macaw.asm.reference import of_language

    yield from of_language()


def _find_pages(cores: tuple[Core, ...], name: str, everywhere: bool) -> list[Page]:
    """Return the pages with the name `name`, from the tables of `cores`.

    With `everywhere`, also search the pages of the device, and if no page has the name, those of
    the assembly language. If there is still no page, the name may consist of a core and a name in
    the core's tables, such as `pe.q1`. Raises `InputError` if no page has this name.
    """
    from macaw.isa import manual, registry
    from macaw.phrases import did_you_mean

    pages = list(_table_pages(cores, everywhere))
    matches = manual.find(pages, name)
    if not matches and everywhere:
        pages += _language_pages()
        matches = manual.find(pages, name)
    matches = matches or _find_of_core(name)
    if matches:
        return matches
    owners = [
        core.name for core in registry.cores() if manual.find(_table_pages((core,), False), name)
    ]
    hint = f"{' and '.join(owners)} has it" if owners else ""
    words = {word for item in pages for word in (item.name, *item.also)}
    longer = dict.fromkeys(x.name for x in pages if x.name.startswith(f"{name.lower()}."))
    if longer and not hint:
        hint = f"there {'are' if len(longer) > 1 else 'is'} {', '.join(longer)}"
    if not hint:
        near = did_you_mean(name.lower(), words)
        others = [item for item in pages if f"'{item.name}'" not in near]
        hint = f"{near} {_mention(others, name)}".strip()
    raise InputError(
        f"nothing is called '{name}'" if everywhere else f"core {cores[0].name} has no '{name}'",
        hint or "`macaw isa` lists all",
    )


def _find_of_core(name: str) -> list[Page]:
    """Return the pages that a name such as `pe.q1` means: a core, then a name in its tables.

    The result is empty if the name does not begin with a core.
    """
    from macaw.isa import manual, registry

    owner, _, rest = name.lower().partition(".")
    if owner not in registry.names():
        return []
    return manual.find(_table_pages((registry.core(owner),), False), rest)


def _mention(pages: list[Page], name: str) -> str:
    """Return a hint with the names of those pages whose meaning has all words of `name`.

    The hint is empty if there is no such page. It is also empty if a word has fewer than three
    letters, because such words are in too many meanings.
    """
    words = [re.compile(rf"\b{re.escape(word)}", re.IGNORECASE) for word in name.split()]
    if min(map(len, name.split())) < SHORTEST:
        return ""
    found = dict.fromkeys(
        item.name
        for item in pages
        if all(word.search(f"{item.name} {item.meaning}") for word in words)
    )
    some = list(found)[:MOST_MENTIONED]
    more = f" and {len(found) - len(some)} more" if len(found) > len(some) else ""
    return f"'{name}' is in the meaning of {', '.join(some)}{more}" if found else ""


def _mnemonic_list(core: Core) -> str:
    """Return a core's heading, and below it the mnemonics and structures by family."""
    families = dict.fromkeys((*core.order, *(row.family for row in core.instructions)))
    groups = [
        (family, [row.mnemonic for row in core.instructions if row.family == family])
        for family in families
    ]
    groups.append(("pseudo", [row.mnemonic for row in core.pseudos]))
    groups.append(("structure", [item.name for item in core.structures]))
    groups.append(("directive", [item.name for item in core.directives]))
    return _group_lines(f"{core.name}: {core.title}", groups)


def _directive_list() -> str:
    """Return the directives and functions that the parts of all cores accept."""
    from macaw.asm import reference

    groups = [
        ("directive", [row.name for row in reference.directives()]),
        ("function", [row.name for row in reference.functions()]),
    ]
    return _group_lines("every part", groups)


def _group_lines(heading: str, groups: list[tuple[str, list[str]]]) -> str:
    lines = [heading]
    column = max([11, *(len(title) for title, names in groups if names)]) + 1
    for title, names in groups:
        text = " ".join(dict.fromkeys(names))
        lines += textwrap.wrap(
            text,
            80,
            initial_indent=f"  {title:<{column}}",
            subsequent_indent=" " * (column + 2),
        )
    return "\n".join(lines) + "\n"
