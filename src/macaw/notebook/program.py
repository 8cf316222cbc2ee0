"""Shows a program in a notebook: inputs and outputs, sections, symbols, warnings."""

from __future__ import annotations

from pathlib import PurePath

from macaw.asm.diagnostics import Diagnostic, render
from macaw.asm.program import Program
from macaw.notebook.markup import Column, Markup, folded, output, section, table
from macaw.phrases import plural, shape_text


def program_html(program: Program) -> str:
    """Return the HTML of a program."""
    names = ", ".join(PurePath(name).name for name in program.source_files)
    size = sum(item.size for item in program.sections)
    parts = [f"Program {names}".rstrip(), f"for {program.device}" if program.device else ""]
    title = f"{' '.join(filter(None, parts))}: {plural(size, 'byte')}"
    return section(
        title, [_tensors(program), _sections(program), _symbols(program), _warnings(program)]
    )


def _tensors(program: Program) -> Markup:
    columns = [Column("name"), Column("direction"), Column("type"), Column("shape"),
               Column("bytes", True), Column("address"), Column("memory")]  # fmt: skip
    rows = [
        [item.name, item.direction, item.dtype, shape_text(item.shape), f"{item.size:,}",
         f"{item.address:#010x}", item.at or "external"]
        for item in program.tensors
    ]  # fmt: skip
    return table(columns, rows, "Inputs and outputs")


def _sections(program: Program) -> Markup:
    columns = [Column("section"), Column("core"), Column("address"), Column("bytes", True)]
    rows = [
        [item.name, _core(item.core, item.index), f"{item.address:#010x}", f"{item.size:,}"]
        for item in program.sections
    ]
    return table(columns, rows, "Sections")


def _core(core: str | None, index: int | None) -> str:
    if core is None:
        return ""
    return core if index is None else f"{core}[{index}]"


def _symbols(program: Program) -> Markup:
    columns = [Column("symbol"), Column("value"), Column("section"), Column("bytes", True)]
    ordered = sorted(program.symbols, key=lambda item: not item.is_global)
    rows = [
        [item.name, f"{item.value:#x}", item.section or "a number", f"{item.size:,}"]
        for item in ordered
    ]
    return folded(plural(len(rows), "symbol"), [table(columns, rows)])


def _warnings(program: Program) -> Markup:
    warnings = [item for item in program.warnings if isinstance(item, Diagnostic)]
    if not warnings:
        return Markup("")
    return output(plural(len(warnings), "warning"), render(warnings))
