"""Texts of what Macaw makes of a generated source. `tests.recorded` compares these texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from macaw.asm import elf
from macaw.asm.assembler import analyse, assemble, assemble_object
from macaw.asm.diagnostics import ERROR, AssemblyError, Diagnostic
from macaw.asm.program import Program, Section, Symbol
from macaw.asm.relocatable import Relocatable
from macaw.asm.relocation_names import relocation_name
from macaw.asm.source import Source

FOLDER = Path(__file__).parents[1] / "recorded"
NAME = "t.s"
DEFAULT = "<default cp>"
MOST_BYTES = 48  # bytes of a section that a text shows; of more bytes it shows a digest
MOST_LINES = 24  # lines of a listing that a text shows


def digest(data: bytes | str) -> str:
    """The first 10 digits of the data's SHA-256."""
    return sha256(
        data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    ).hexdigest()[:10]


def brief(text: str, most: int) -> str:
    """The text; of a long text the beginning, and a digest of all."""
    return text if len(text) <= most else f"{text[: most - 14]}.. {digest(text)}"


def shortened(lines: Iterable[str], most: int = MOST_LINES) -> list[str]:
    """The lines; of many lines the first ones, and a digest of all."""
    every = list(lines)
    if len(every) <= most + 1:
        return every
    return [*every[:most], f"... {len(every)} lines, {digest(chr(10).join(every))}"]


def diagnostics(
    items: Iterable[Diagnostic], source: str = "", folder: Path | None = None
) -> list[str]:
    """A line for each diagnostic: its place, the text at the place, all of its words, its chain."""
    lines = source.split("\n")
    return [_diagnostic(item, lines, folder) for item in items]


def _diagnostic(item: Diagnostic, lines: list[str], folder: Path | None) -> str:
    span = item.span
    text = lines[span.line - 1] if span.file == NAME and span.line <= len(lines) else item.source
    marked = text[span.column - 1 : span.end_column - 1]
    shown = marked if len(marked) <= 30 else f"{marked[:20]}..{marked[-8:]}"
    inside = f"{folder}/" if folder is not None else ""
    message, hint = (x.replace(inside, "") if inside else x for x in (item.message, item.hint))
    words = f"{item.severity}: {brief(message, 120)}"
    words += f" [{item.name}]" if item.name else ""
    words += f" | {brief(hint, 70)}" if hint else ""
    for link in item.chain:
        words += f" < {_file(link.span.file)}{link.span.line}:{link.span.column} {link.what}"
    return f"{_file(span.file)}{span.line}:{span.column}-{span.end_column} `{shown}` {words}"


def _file(name: str) -> str:
    return "" if name == NAME else f"{Path(name).name}:"


def outcome(source: str, folder: Path | None = None, **options: Any) -> list[str]:
    """The diagnostics of a source and, if it has no error, its program."""
    try:
        program = assemble(Source(source, NAME, folder), **options)
    except AssemblyError as error:
        return diagnostics(error.diagnostics, source, folder)
    warnings = [item for item in program.warnings if isinstance(item, Diagnostic)]
    return [*diagnostics(warnings, source, folder), *of_program(program)]


def repaired(source: str, folder: Path | None = None) -> str:
    """The source without the lines that have an error; empty if errors remain."""
    for _ in range(6):
        report = analyse([Source(source, NAME, folder)]).state.report
        if not report.has_errors:
            return source
        places = [
            item.chain[-1].span if item.chain else item.span
            for item in report.diagnostics()
            if item.severity == ERROR
        ]
        lines = source.split("\n")
        for number in sorted({span.line for span in places if span.file == NAME}, reverse=True):
            del lines[number - 1]
        source = "\n".join(lines)
    return ""


def object_outcome(source: str, folder: Path | None = None, **options: Any) -> list[str]:
    """The same for an object, with its relocations."""
    try:
        item = assemble_object([Source(source, NAME, folder)], **options)
    except AssemblyError as error:
        return diagnostics(error.diagnostics, source, folder)
    return [*of_program(item.program), *of_object(item)]


def of_program(program: Program) -> list[str]:
    """The sections, symbols, tensors and lines of a program, without its default part of cp."""
    files = {line.section: Path(line.file).name for line in program.line_table}
    own = [
        item for item in program.sections if files.get(item.name) != DEFAULT or item.core != "cp"
    ]
    if DEFAULT in files.values():
        own = [item for item in own if item.core != "cp"]
    names = {None, *(item.name for item in own)}
    return [
        *(_section(item) for item in own),
        *(_symbol(item) for item in program.symbols if item.section in names),
        *_tensors(program),
        *_lines(program),
    ]


def _section(item: Section) -> str:
    data = item.data
    shown = data.hex(" ", -4) if len(data) <= MOST_BYTES else digest(data)
    load = "" if item.load_address == item.address else f" from {item.load_address:#x}"
    return f"{item.name} {item.address:#x}{load} {item.size} {item.flags} {item.align}: {shown}".rstrip()


def _symbol(item: Symbol) -> str:
    bound = "weak" if item.is_weak else "global" if item.is_global else "local"
    size = f" +{item.size}" if item.size else ""
    return f"  {bound} {item.name} = {item.value:#x}{size} {item.kind} {item.section or '-'}"


def _tensors(program: Program) -> Iterator[str]:
    for item in (*program.tensors, *program.arrays, *program.copies):
        yield (
            f"  {item.direction} {item.name} {item.dtype} {item.shape} {item.address:#x}"
            f" {item.section}{' of ' + item.file if item.file else ''}"
        )
    for data in program.typed:
        yield f"  typed {data.dtype} {data.address:#x} +{data.size} line {data.line}"
    for hint in program.hints:
        yield f"  hint {hint.core} {hint.name} {hint.memory} {hint.address} {hint.rows} {hint.cols}"


def _lines(program: Program) -> Iterator[str]:
    """The line table: for each section the addresses from its start, with line and column."""
    by_section: dict[str, list[str]] = {}
    starts = {item.name: item.address for item in program.sections}
    for line in program.line_table:
        if Path(line.file).name != DEFAULT:
            place = f"{line.address - starts[line.section]:x}={_file(line.file)}{line.line}:{line.column}"
            by_section.setdefault(line.section, []).append(place)
    for name, places in by_section.items():
        text = " ".join(places)
        yield f"  lines {name} {text if len(places) <= 8 else f'{len(places)} {digest(text)}'}"


def of_object(item: Relocatable) -> list[str]:
    """The relocations and undefined symbols of an object."""
    lines = [
        f"  {relocation_name(x.kind)} {x.section} {x.address:#x} {x.symbol} {x.addend:+}"
        for x in item.relocations
    ]
    lines += [f"  slot {name} {row} {value:#x}" for (name, row), value in item.slots.items()]
    names = [*item.undefined, *(f"{name}?" for name in sorted(item.weak))]
    return [*lines, *([f"  needs {' '.join(names)}"] if names else [])]


def without_device(program: Program) -> Program:
    """The program without its settings, so that a new setting does not change its file."""
    return replace(program, config_toml="", device="")


def elf_digest(program: Program, *, lines: bool = True) -> str:
    """The size and digest of the executable."""
    data = elf.write(without_device(program), lines=lines)
    return f"{len(data)} bytes {digest(data)}"


def records(cases: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """The cases for `tests.recorded.check`."""
    return {name: "\n".join(lines) for name, lines in cases.items()}
