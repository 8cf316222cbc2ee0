"""Renames a symbol, macro, parameter or local label in all files of a program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from macaw.asm.diagnostics import ERROR, Diagnostic, Span
from macaw.asm.editing import occurrences
from macaw.asm.editing.file_view import FileView
from macaw.asm.editing.occurrences import Occurrence
from macaw.asm.editing.program import EditedProgram, ProgramFile
from macaw.asm.editors import words
from macaw.asm.source import SourceText
from macaw.isa.errors import MacawError


class RenameError(MacawError):
    """The error for a word that cannot be renamed; the message gives the reason."""


def target(view: FileView, line: int, column: int) -> tuple[Occurrence, Span]:
    """Return the occurrence at a position, and its span.

    Raises `RenameError` if the word there cannot be renamed.
    """
    found = occurrences.at(view, view.offset(line, column))
    if found is None:
        raise RenameError("there is no name here")
    if found.kind == occurrences.REGISTERS:
        raise RenameError(f"'{found.name}' is a register")
    if found.kind == occurrences.SYMBOLS:
        symbol = view.symbol(found.name)
        if symbol is None:
            raise RenameError(f"no symbol is called '{found.name}'")
        if view.program.is_from_outside(symbol):
            raise RenameError(f"'{found.name}' is defined outside of the program, with -D")
    if found.kind == occurrences.MACROS and view.macro(found.name) is None:
        raise RenameError(f"no macro is called '{found.name}'")
    return found, view.span(found.start, found.end)


def rename(view: FileView, line: int, column: int, name: str) -> Mapping[str, list[Span]]:
    """Return the spans at which `name` must replace the old name, by file name.

    Raises `RenameError` if `name` is not a valid name, or if the renaming would change the
    assembled program.
    """
    found, _span = target(view, line, column)
    is_local = found.kind == occurrences.LOCALS
    pattern = "[0-9]+" if is_local else words.terminal("NAME")
    if re.fullmatch(pattern, name) is None:
        raise RenameError(f"'{name}' is no {'number of a local label' if is_local else 'name'}")
    places = occurrences.same(view, found)
    if not any(item.defines for _file, item in places):
        raise RenameError(f"'{found.name}' is defined in no line that can be renamed")
    if name != found.name:
        _check(view.program, _texts(places, name), f"'{found.name}' cannot be '{name}'")
    spans: dict[str, list[Span]] = {}
    for file, item in places:
        source = SourceText(file.text, file.name) if file is not view.file else view.source
        spans.setdefault(file.name, []).append(source.span(item.start, item.end))
    return spans


def _texts(places: Iterable[tuple[ProgramFile, Occurrence]], name: str) -> dict[str, str]:
    """Return the new text of each file, by file name: `name` replaces all `places`."""
    by_file: dict[ProgramFile, list[Occurrence]] = {}
    for file, item in places:
        by_file.setdefault(file, []).append(item)
    texts = {}
    for file, items in by_file.items():
        pieces, position = [], 0
        for item in sorted(items, key=lambda item: item.start):
            pieces += [file.text[position : item.start], name]
            position = item.end
        texts[file.name] = "".join([*pieces, file.text[position:]])
    return texts


def _check(program: EditedProgram, texts: Mapping[str, str], what: str) -> None:
    """Assemble the program with the new `texts` of some files.

    Raise `RenameError` if the texts cause more errors than the program had before. If it had none,
    also raise `RenameError` if the texts change the assembled program. The message of the error
    begins with `what`.
    """
    by_path = {Path(name).resolve(): text for name, text in texts.items()}

    def text_of(path: Path) -> str | None:
        changed = by_path.get(path)
        return program.text_of(path) if changed is None else changed

    sources = [
        replace(source, text=texts.get(source.name, source.text)) for source in program.sources
    ]
    renamed = replace(program, sources=tuple(sources), text_of=text_of)
    before, after = _errors(program), _errors(renamed)
    if len(after) > len(before):
        known = {item.message for item in before}
        new = next((item for item in after if item.message not in known), after[-1])
        raise RenameError(f"{what}: {new.message} ({new.span.file}:{new.span.line})")
    if not before and program.content() != renamed.content():
        raise RenameError(f"{what}: the program would not stay the same")


def _errors(program: EditedProgram) -> list[Diagnostic]:
    return [x for x in program.assembly.report.diagnostics() if x.severity == ERROR]
