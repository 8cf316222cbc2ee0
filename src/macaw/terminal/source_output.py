"""Prints sources and pages of the reference to standard output, coloured on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from macaw.terminal import console
from macaw.terminal.highlighting import highlight, shows_colours

if TYPE_CHECKING:
    from rich.text import Text

    from macaw.isa.pages import Page

_LINES = 200  # printed at once: rich lays out a text as a whole


def print_source(text: str) -> None:
    """Print the text of an assembly source to standard output, in colours on a terminal."""
    if not shows_colours(sys.stdout):
        click.echo(text, nl=False)
        return
    screen = console.stdout()
    for block in _blocks(highlight(text)):
        screen.print(block, soft_wrap=True, end="")


def _blocks(text: Text) -> Iterator[Text]:
    lines = text.split("\n", include_separator=True)
    for first in range(0, len(lines), _LINES):
        block = text.blank_copy()
        for line in lines[first : first + _LINES]:
            block.append_text(line)
        yield block


def print_page(page: Page) -> None:
    """Print a page of the reference, with its title and its example highlighted."""
    from macaw.isa import manual

    text = manual.text(page)
    if shows_colours(sys.stdout):
        console.stdout().print(_highlighted_page(text, page), soft_wrap=True, end="")
    else:
        click.echo(text, nl=False)


def _highlighted_page(text: str, page: Page) -> Text:
    from rich.text import Text

    from macaw.isa import registry

    coloured = Text(text)
    coloured.stylize("bold", 0, len(page.title))
    core = page.owner if page.owner in registry.names() else None
    place = text.rfind("  Example ")
    for line in page.entry("Example") if page.kind != "setting" else ():
        begin = text.index(line, place)
        for span in highlight(line, core).spans:
            coloured.stylize(span.style, begin + span.start, begin + span.end)
        place = begin + len(line)
    return coloured
