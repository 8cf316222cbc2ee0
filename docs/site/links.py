"""Follows links of Markdown pages to files and anchors, and writes them for other places."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from macaw.isa.markdown import slug

_FENCE = re.compile(r"^ *(```|~~~)")
_HEADING = re.compile(r"^(#{1,6}) +(.+?) *#* *$")
_LINK = re.compile(r"(!?\[(?:[^\]\[]|\[[^\]]*\])*\]\()([^)\s]+)(\))", re.DOTALL)
_TEXT = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_OUTSIDE = ("http://", "https://", "mailto:")


class Target(NamedTuple):
    """What a link points to: a path from the root of a tree, and an anchor or ""."""

    path: str
    anchor: str


def headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (index of the line, level, anchor) for each heading of a Markdown text.

    The anchors are those that GitHub gives, with a number for the second heading of one text.
    """
    taken: dict[str, int] = {}
    inside = False
    for index, line in enumerate(text.splitlines()):
        if _FENCE.match(line):
            inside = not inside
        heading = None if inside else _HEADING.match(line)
        if heading is not None:
            anchor = slug(_TEXT.sub(r"\1", heading[2]).replace("`", "").replace("\\", ""))
            count = taken.get(anchor, 0)
            taken[anchor] = count + 1
            yield index, len(heading[1]), f"{anchor}-{count}" if count else anchor


def target_of(link: str, page: str) -> Target | None:
    """Return what a link of a page points to; None for an address outside of the tree."""
    if link.startswith(_OUTSIDE):
        return None
    path, _, anchor = link.partition("#")
    folder = posixpath.dirname(page)
    return Target(posixpath.normpath(posixpath.join(folder, path)) if path else page, anchor)


def link_to(target: Target, page: str) -> str:
    """Return the link from a page to a target."""
    anchor = f"#{target.anchor}" if target.anchor else ""
    if target.path == page and anchor:
        return anchor
    return posixpath.relpath(target.path, posixpath.dirname(page) or ".") + anchor


def replace_links(text: str, replace: Callable[[str], str]) -> str:
    """Return a Markdown text in which `replace` has changed each link outside of code blocks."""
    pieces = _pieces(text)
    for place in range(0, len(pieces), 2):
        pieces[place] = _LINK.sub(lambda m: f"{m[1]}{replace(m[2])}{m[3]}", pieces[place])
    return "".join(pieces)


def _pieces(text: str) -> list[str]:
    """Return a text divided into pieces: code blocks at the odd indices."""
    return re.split(r"(?ms)^( *```.*?^ *```[ \t]*$)", text)


def links(text: str) -> list[str]:
    """Return the links of a Markdown text outside of code blocks, in their order."""
    return [match[2] for piece in _pieces(text)[::2] for match in _LINK.finditer(piece)]
