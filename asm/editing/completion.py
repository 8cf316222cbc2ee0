"""Finds the words that a user can write at a position of a source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from macaw.asm import explanations
from macaw.asm.directive import Directive
from macaw.asm.directives import DIRECTIVES, PartDirective
from macaw.asm.editing import blocks, cursor, occurrences
from macaw.asm.editing.cursor import Cursor
from macaw.asm.editing.file_view import FileView
from macaw.asm.editing.source_tokens import DIRECTIVE, MACRO
from macaw.asm.editors import words
from macaw.asm.expressions import MODIFIERS
from macaw.asm.expressions import ROWS as FUNCTION_ROWS
from macaw.asm.forms import part_class
from macaw.asm.layout import Area
from macaw.asm.symbols import Definition
from macaw.asm.text_directive import TextDirective
from macaw.asm.text_directives import TEXT_DIRECTIVES
from macaw.isa import config, manual, registry
from macaw.isa.kinds import Immediate, Kind, Register
from macaw.isa.model import Core
from macaw.isa.model import Directive as CoreDirective
from macaw.isa.rows import Operand, Pseudo, PseudoOperand, Row

AnyDirective = Directive | PartDirective | TextDirective | CoreDirective

_FILE = re.compile(r'"(?:FILE|file)(\.\w+)?"')
_NAMED = re.compile(r"(\w+)=")
_NAME = re.compile(words.terminal("NAME"))
_DEVICE, _SECTION, _AT = ".device", ".section", "at="
_MOST_FILES = 500  # files and folders that are suggested
_ADDRESS_BITS = 32  # bits of an immediate that can be any address
_JUMPS = ("branch", "jump", "call")  # what instructions with a target do
_PART_BITS = 12  # bits of an immediate that can be a part of an address (%lo)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A completion: a word that the user can write at the cursor.

    `kind` is one of instruction, directive, macro, register, word, operand, function, symbol,
    constant, core, device, section, file and folder. `detail` is a short note beside the word;
    `text` is a longer explanation in Markdown.
    """

    word: str
    kind: str
    detail: str = ""
    text: str = ""  # an explanation, Markdown


@dataclass(frozen=True, slots=True)
class Completions:
    """The suggestions at a position, with the most likely kinds first.

    A chosen suggestion replaces the text from offset `start` up to `end`.
    """

    items: Sequence[Suggestion]
    start: int
    end: int


def directives(core: Core | None) -> Mapping[str, AnyDirective]:
    """Return, by name, the directives that parts of `core` accept.

    If `core` is None, return the directives that every part accepts.
    """
    own = {row.name: row for row in core.directives} if core is not None else {}
    common = {name: row for name, row in DIRECTIVES.items() if name != "="}
    return {**common, **TEXT_DIRECTIVES, **own}


def completions(view: FileView, line: int, column: int) -> Completions:
    """Return the words that a user can write at `column` of `line`."""
    offset = view.offset(line, column)
    place = cursor.at(view.file.tokens, offset)
    items = list({item.word: item for item in _suggestions(view, place, offset)}.values())
    return Completions(items, place.start, offset)


def _suggestions(view: FileView, place: Cursor, offset: int) -> Iterator[Suggestion]:
    if place.is_comment:
        return
    if place.start and view.file.text[place.start - 1] == "\\":
        bodies = blocks.around(view.file.tokens, offset, (blocks.MACRO, blocks.REPETITION))
        names = [name for body in bodies for name in occurrences.parameters(body)]
        yield from (Suggestion(name, "word", "a parameter") for name in names)
        return
    core = view.core_at(offset)
    if not place.head:
        yield from _statements(view, core)
    elif place.quoted is not None:
        yield from _files(view, place)
    elif place.word.startswith("%"):
        yield from _modifiers()
    elif place.function in {row.name for row in FUNCTION_ROWS}:
        yield from _symbols(view)
        yield from _functions()
    elif place.role == DIRECTIVE:
        yield from _of_directive(view, core, place)
    elif place.role == MACRO:
        yield from _of_macro(view, core, place)
    elif core is not None:
        yield from _of_instruction(view, core, place)


def _statements(view: FileView, core: Core | None) -> Iterator[Suggestion]:
    if core is not None:
        for name, rows in core.rows.items():
            page = explanations.code(manual.page(core, name), "text")
            yield Suggestion(name, "instruction", rows[0].meaning, page)
    for macro in view.program.macros.values():
        yield Suggestion(macro.name, "macro", macro.syntax, explanations.macro_text(macro))
    for name, row in directives(core).items():
        yield Suggestion(name, "directive", row.syntax, row.meaning)


# --- symbols ---


def _visible(view: FileView) -> Iterator[tuple[str, Definition]]:
    r"""Yield the symbols that a user can write, by the texts that a user writes.

    Symbols that the assembler or a macro (with `\@`) has made are left out.
    """
    table = view.program.assembly.symbols.table
    for name, symbol in {**table.shared, **view.scopes[0].symbols}.items():
        if view.program.is_from_outside(symbol):
            is_known = True
        elif explanations.is_expanded(symbol):
            is_known = any(name in file.text for file in view.program.files.values())
        else:
            is_known = explanations.is_written(symbol)
        if is_known:
            yield name if _NAME.fullmatch(name) else f'"{name}"', symbol


def _symbols(
    view: FileView, *, labels: bool = True, constants: bool = True
) -> Iterator[Suggestion]:
    """Yield the program's symbols: the labels if `labels`, the constants if `constants`."""
    for name, symbol in _visible(view):
        if labels if symbol.is_label else constants:
            kind = "symbol" if symbol.is_label else "constant"
            yield Suggestion(name, kind, explanations.value(symbol, view.program.assembly.symbols))


def _jump_targets(view: FileView) -> Iterator[Suggestion]:
    """Yield the labels of instructions and, for each local label `1:`, its uses `1b` and `1f`."""
    state = view.program.assembly
    for name, symbol in _visible(view):
        area = symbol.area
        if symbol.is_label and isinstance(area, Area):
            plan = state.layout.plans.get(area.section)
            if plan is not None and "x" in plan.flags and state.symbols.datum(symbol) is None:
                yield Suggestion(name, "symbol", explanations.value(symbol, state.symbols))
    for number in sorted(view.scopes[0].numbered):
        yield Suggestion(f"{number}b", "symbol", f"the label {number}: before this line")
        yield Suggestion(f"{number}f", "symbol", f"the label {number}: after this line")


def _modifiers() -> Iterator[Suggestion]:
    for row in FUNCTION_ROWS:
        if row.name in MODIFIERS:
            yield Suggestion(row.name, "function", row.syntax, row.meaning)


def _functions() -> Iterator[Suggestion]:
    for row in FUNCTION_ROWS:
        if row.name not in MODIFIERS:
            yield Suggestion(row.name, "function", row.syntax, row.meaning)


# --- operands of instructions ---


def _of_instruction(view: FileView, core: Core, place: Cursor) -> Iterator[Suggestion]:
    rows = core.rows.get(place.head, ())
    if place.named in core.carried:
        forms = core.carried.get(f"{place.head} {place.named}", core.carried[place.named])
        named = [form for form in forms if form.endswith("=")]
        yield from _words(x for x in forms if x not in named)
        yield from (Suggestion(form, "operand") for form in named if place.depth)
        yield from _symbols(view, constants=False)
        return
    depth = place.depth - (1 if core.called and place.depth else 0)
    index = place.inner if core.called and place.depth else place.operand
    seen: set[str] = set()
    for operand in _fitting(rows, place, index, depth):
        if operand.name not in seen:
            seen.add(operand.name)
            yield from _of_kind(view, operand, _is_target(core, rows, operand))
    if not place.named and depth == 0:
        yield from _named(rows, place)
        if any(not form.endswith("=") for row in rows for form, _ in getattr(row, "carries", ())):
            yield from _symbols(view, constants=False)


def _is_target(core: Core, rows: Iterable[Row], operand: Operand | PseudoOperand) -> bool:
    """Return whether `operand`, an operand of these rows, is the target of a jump."""
    if operand.kind.relative or operand.kind.by_name:
        return operand.kind.relative
    lines = [
        line
        for row in rows
        if isinstance(row, Pseudo)
        for alternative in row.alternatives
        for line in alternative.lines
    ]
    jumps = [line for line in lines if core.by_mnemonic[line.split()[0]].flow in _JUMPS]
    return any(f"{{{operand.name}}}" in line for line in jumps)


def _fitting(
    rows: Iterable[Row], place: Cursor, index: int, depth: int
) -> Iterator[Operand | PseudoOperand]:
    """Yield the operands that the user may be writing at the cursor `place`.

    `rows` are the table rows of the statement's mnemonic; from each row comes at most one operand.
    `index` is the number of operands before the cursor. `depth` is the number of open brackets; the
    bracket of an instruction that is written as a call does not count.
    """
    for row in rows:
        for operand in row.operands:
            if place.named and operand.name == place.named.rstrip("="):
                yield operand
        positional = _positional(row)
        if place.named or index >= len(positional):
            continue
        outer = positional[index]
        if depth:
            yield from (x for x in row.operands if x.inside == outer.name)
        else:
            yield outer


def _positional(row: Row) -> list[Operand | PseudoOperand]:
    """Return the operands of a row whose positions in a statement are fixed."""
    return [x for x in row.operands if not x.inside and not _is_free(x)]


def _is_free(operand: Operand | PseudoOperand) -> bool:
    """Return whether an operand may be at any position; flags and operands `name=` may."""
    return bool(getattr(operand, "named", False)) or operand.kind.optional


def _named(rows: Iterable[Row], place: Cursor) -> Iterator[Suggestion]:
    """Yield the operands `name=` and the flags that the statement does not have yet."""
    for row in (row for row in rows if place.operand >= len(_positional(row))):
        for operand in (x for x in row.operands if _is_free(x)):
            if operand.kind.optional:
                for word in operand.kind.words():
                    if word not in place.written:
                        yield Suggestion(word, "word", operand.kind.about(word) or operand.name)
            elif operand.name not in place.written:
                yield Suggestion(f"{operand.name}=", "operand", operand.kind.describe())
        for form, meaning in getattr(row, "carries", ()):
            if form.endswith("=") and form[:-1] not in place.written:
                yield Suggestion(form, "operand", meaning)


def _of_kind(
    view: FileView, operand: Operand | PseudoOperand, is_target: bool
) -> Iterator[Suggestion]:
    """Yield suggestions for the value of an operand.

    With `is_target`, the operand is a jump's target.
    """
    kind = operand.kind
    register = isinstance(kind, Register)
    for word in kind.words():
        about = kind.about(word) or operand.name
        yield Suggestion(word, "register" if register else "word", about)
    if kind.by_name:
        return
    if is_target:
        yield from _jump_targets(view)
        return
    bits = kind.bits if isinstance(kind, Immediate) else _ADDRESS_BITS
    yield from _symbols(view, labels=bits >= _ADDRESS_BITS)
    if bits >= _PART_BITS:
        yield from _modifiers()
    yield from _functions()


def _words(names: Iterable[str], detail: str = "") -> Iterator[Suggestion]:
    return (Suggestion(name, "word", detail) for name in names)


# --- operands of directives and macros ---


def _of_directive(view: FileView, core: Core | None, place: Cursor) -> Iterator[Suggestion]:
    head, row = place.head, directives(core).get(place.head)
    if head == words.CORE:
        yield from _of_core(place)
    elif head == _DEVICE:
        yield from (Suggestion(name, "device") for name in config.presets())
    elif head == _SECTION and place.operand == 0:
        yield from _sections(view, core)
    elif place.named:
        yield from _of_option(view, core, row, place)
    elif row is not None:
        yield from _of_plain_directive(view, row, place)


def _of_plain_directive(view: FileView, row: AnyDirective, place: Cursor) -> Iterator[Suggestion]:
    defines = place.head in occurrences.defining()
    if row.syntax == row.name or (defines and place.operand == 0):
        return  # no operands, or a new name
    fixed = words.of_directive().get(place.head, ())
    if fixed and place.operand == 1:
        yield from _words(sorted(fixed, key=str.swapcase))
        return
    if fixed and not defines:
        yield from _words(sorted(fixed, key=str.swapcase))
    for name in _NAMED.findall(row.syntax):
        if name not in place.written:
            yield Suggestion(f"{name}=", "operand", row.syntax)
    if not isinstance(row, CoreDirective) or not row.structures:
        yield from _symbols(view)
        if defines or "NAME" not in row.syntax:
            yield from _functions()


def _of_core(place: Cursor) -> Iterator[Suggestion]:
    cores = [core for core in registry.cores() if core.section]
    if place.operand == 0:
        yield from (Suggestion(core.name, "core", core.title) for core in cores)
    elif not place.named:
        written = [core for core in cores if core.name in place.written] or cores
        names = dict.fromkeys(core.index for core in written if core.index)
        yield from (Suggestion(f"{name}=", "operand", "which of them") for name in names)


def _sections(view: FileView, core: Core | None) -> Iterator[Suggestion]:
    state = view.program.assembly
    names: list[str] = list(state.layout.plans)
    if core is not None:
        names = [".text", *names]
    yield from (Suggestion(name, "section") for name in dict.fromkeys([*names, ".data", ".bss"]))


def _of_option(
    view: FileView, core: Core | None, row: AnyDirective | None, place: Cursor
) -> Iterator[Suggestion]:
    """Yield suggestions for the value of an operand `name=` of a directive."""
    if place.named == _AT:
        device = view.program.assembly.config
        for other in registry.cores():
            for name in part_class(other.name).tensor_plans(other, device):
                yield Suggestion(name, "section", other.title)
        return
    kind: Kind | None = None
    if isinstance(row, CoreDirective) and core is not None:
        members = [x for name in row.structures for x in core.structure(name).members]
        kind = next((x.kind for x in members if f"{x.name}=" == place.named), None)
    if kind is not None:
        yield from _words(kind.words(), kind.describe())
    if kind is None or not kind.by_name:
        yield from _symbols(view, labels=False)


def _of_macro(view: FileView, core: Core | None, place: Cursor) -> Iterator[Suggestion]:
    macro = view.macro(place.head)
    if macro is not None and not place.named:
        for parameter in macro.parameters:
            if parameter.name not in place.written:
                yield Suggestion(f"{parameter.name}=", "operand", macro.syntax)
    yield from _symbols(view)
    if core is not None:
        names = [name for file in core.files for group in file.names for name in group]
        yield from (Suggestion(name, "register") for name in names)


# --- files ---


def _files(view: FileView, place: Cursor) -> Iterator[Suggestion]:
    """Yield the files and folders that the user can name in the string at the cursor."""
    row = directives(None).get(place.head)
    core_rows = [x for core in registry.cores() for x in core.directives if x.name == place.head]
    row = row or (core_rows[0] if core_rows else None)
    match = _FILE.search(f"{row.syntax} {row.meaning}") if row is not None else None
    if match is None or (place.quoted or "").startswith("/"):
        return
    ending = match[1] or ""
    inside, _, _begun = (place.quoted or "").rpartition("/")
    for folder in view.folders:
        yield from _in_folder(folder / inside, f"{inside}/" if inside else "", ending)


def _in_folder(folder: Path, before: str, ending: str) -> Iterator[Suggestion]:
    try:
        entries = sorted(folder.iterdir())[:_MOST_FILES]
    except (OSError, ValueError):
        return
    for entry in entries:
        if entry.name.startswith(".") or not entry.name.isprintable():
            continue
        if entry.is_dir():
            yield Suggestion(f"{before}{entry.name}/", "folder")
        elif entry.name.endswith(ending):
            yield Suggestion(f"{before}{entry.name}", "file")
