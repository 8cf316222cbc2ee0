"""Finds symbols and macros by their names in all sources of the folders that an editor has open."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types

from macaw.asm.editing import occurrences
from macaw.isa import reading
from macaw.language_server.open_file import OpenFile
from macaw.language_server.positions import Positions
from macaw.language_server.program_finder import SOURCE_ENDINGS
from macaw.language_server.translations import SYMBOL_KINDS

_MOST_FILES = 2000  # files of all folders
_MOST_VISITED = 20_000  # folders and files
_MOST_BYTES = 1 << 20  # bytes of a file
_MOST_FOUND = 500
_LEFT_OUT = {"node_modules", "__pycache__", "build", "venv"}


class _Known(NamedTuple):
    """The definitions in a file, and the time of the file's last change."""

    time: int  # nanoseconds since the epoch
    symbols: Sequence[_Defined]


class _Defined(NamedTuple):
    """A definition in a text: the name, its kind as in outlines, and its range."""

    name: str
    kind: str
    place: types.Range


@cache
def _definition() -> re.Pattern[str]:
    directives = "|".join(re.escape(name) for name in sorted(occurrences.defining() - {"="}))
    name = r"[A-Za-z_.$][\w.$]*"
    return re.compile(
        rf"^[ \t]*(?:\d+:[ \t]*)*(?:(?P<label>{name})[ \t]*:"
        rf"|(?P<constant>{name})[ \t]*=(?!=)"
        rf"|(?P<head>\.macro|{directives})[ \t]+(?P<name>{name}))",
        re.MULTILINE,
    )


class SymbolIndex:
    """The names that sources define. The index reads a file on disk again when it has changed."""

    def __init__(self) -> None:
        self._known: dict[Path, _Known] = {}

    def find(
        self, query: str, folders: Sequence[Path], files: Mapping[str, OpenFile]
    ) -> list[types.WorkspaceSymbol]:
        """Return the definitions whose names contain the letters of `query` in this order.

        Other letters may be between these letters. Names that begin with the query come first.
        `folders` are searched, and `files`, the open files by URI, replace what is on the disk.
        """
        pattern = re.compile(".*?".join(re.escape(x) for x in query.lower()))
        found = [
            types.WorkspaceSymbol(
                types.Location(uri, item.place), item.name, SYMBOL_KINDS[item.kind]
            )
            for uri, items in self._all(folders, files)
            for item in items
            if pattern.search(item.name.lower())
        ]
        low = query.lower()
        found.sort(key=lambda x: (not x.name.lower().startswith(low), len(x.name), x.name))
        return found[:_MOST_FOUND]

    def _all(
        self, folders: Sequence[Path], files: Mapping[str, OpenFile]
    ) -> Iterator[tuple[str, Sequence[_Defined]]]:
        for file in files.values():
            yield file.uri, _defined(file.source, file.positions)
        open_paths = {file.path for file in files.values()}
        for path in _sources(folders):
            if path not in open_paths:
                yield path.as_uri(), self._in_file(path)

    def _in_file(self, path: Path) -> Sequence[_Defined]:
        try:
            time = path.stat().st_mtime_ns
            known = self._known.get(path)
            if known is None or known.time != time:
                text = reading.read(path, _MOST_BYTES).decode("utf-8", "replace")
                positions = Positions(text, types.PositionEncodingKind.Utf16)
                known = self._known[path] = _Known(time, _defined(text, positions))
        except (OSError, reading.UnreadableError):
            return ()
        return known.symbols


def _sources(folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the paths of the sources in folders and below, but not in hidden folders."""
    visited = count = 0
    for folder in folders:
        for where, inside, names in os.walk(folder):
            inside[:] = sorted(x for x in inside if x[0] != "." and x not in _LEFT_OUT)
            visited += len(inside) + len(names)
            for name in sorted(names):
                if name.endswith(SOURCE_ENDINGS):
                    count += 1
                    yield (Path(where) / name).resolve()
            if visited > _MOST_VISITED or count > _MOST_FILES:
                return


def _defined(text: str, positions: Positions) -> list[_Defined]:
    """Return the definitions in a text; `positions` converts offsets in this text."""
    found = []
    for match in _definition().finditer(text):
        group = "label" if match["label"] else "constant" if match["constant"] else "name"
        start, end = match.span(group)
        place = types.Range(positions.position(start), positions.position(end))
        found.append(_Defined(match[group], _kind(match), place))
    return found


def _kind(match: re.Match[str]) -> str:
    head = match["head"]
    if match["label"]:
        return "code"
    if head == ".macro":
        return "macro"
    if head in (".input", ".output"):
        return "tensor"
    return "constant" if head is None or head in (".set", ".equ", ".equiv", ".eqv") else "data"
