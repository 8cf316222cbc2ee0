"""Prints a program as source text that assembles to the same bytes.

Addresses that instructions refer to get labels; bytes that are not instructions become data. The
core's module in `asm/disassembly/forms` prints what a part contains besides plain instructions. If
its directives would produce other bytes, the part is printed as data.
"""

from __future__ import annotations

from collections.abc import Mapping

from macaw.asm.disassembly import code, data
from macaw.asm.disassembly.forms import printer_of
from macaw.asm.disassembly.labels import Labels, Names, directive, numbers
from macaw.asm.disassembly.raw import dump
from macaw.asm.program import TENSORS, Program, Section, Tensor
from macaw.isa import config, registry
from macaw.isa.errors import MacawError
from macaw.isa.model import Core

_DATA = ".data"


class DisassemblyError(MacawError, ValueError):
    """The program has no part of the requested core."""


def disassemble(program: Program, core: str | None = None, *, raw: bool = False) -> str:
    """Return the source text of a program, or only of the parts of `core`.

    With `raw`, return a dump of the bytes instead. Raises `DisassemblyError`.
    """
    sections = [item for item in program.sections if core is None or item.core == core]
    if core is not None and not sections:
        cores = dict.fromkeys(item.core for item in program.sections if item.core)
        raise DisassemblyError(
            f"the program has no part of a core '{core}', there are {', '.join(cores) or 'none'}"
        )
    names = Names(program.symbols)
    labels = {section.name: Labels(section, program, names) for section in program.sections}
    tables = {item.core: registry.core(item.core) for item in sections if item.core is not None}
    if raw:
        return dump(program, sections, tables, labels)
    for section in sections:
        if section.flags == "ax" and section.core is not None:
            code.make_targets(section, tables[section.core], labels[section.name])

    def exact(address: int) -> str | None:
        section = program.section_at(address)
        return labels[section.name].at(address) if section else None

    def near(address: int) -> str | None:
        symbol = program.symbol_at(address)
        if symbol is None:
            return None
        return names.of(symbol[0]) + (f" + {symbol[1]}" if symbol[1] else "")

    homes = {TENSORS, *(tensor.section for tensor in program.tensors)}
    lines = [
        *_origin(program),
        *names.notes,
        *_device(program),
        *_tensors(program, labels, names),
    ]
    lines += numbers(program, names)
    part: tuple[str, int | None] | None = None
    for section in sections:
        if section.name in homes:
            continue
        table = tables.get(section.core) if section.core is not None else None
        lines += ["", *_about(section), *_opening(section, table, part)]
        if table is not None and part != (section.core, section.index):
            lines += _hints(program, table)
        if section.core is not None:
            part = section.core, section.index
        own = labels[section.name]
        if table is not None and section.flags == "ax" and not section.nobits:
            lines += [directive(f".balign {section.align}")] if section.align > code.WORD else []
            printer = printer_of(table.name)
            printer.open(program, section)
            lines += code.section_lines(section, table, own, exact, near, printer)
        else:
            lines += _contents(program, section, table, own)
    if core is None:
        lines += _empty_control(program)
    return "\n".join(lines).strip("\n") + "\n"


def _origin(program: Program) -> list[str]:
    """Return a comment if Macaw did not assemble the program; no lines otherwise."""
    if program.note_version and not program.is_linked:
        return []
    what = (
        "Linked with objects of other tools" if program.is_linked else "Another tool's executable"
    )
    return [f"# {what}. This is for reading: it would be laid out anew.", ""]


def _device(program: Program) -> list[str]:
    """Return the `.device` line of the program.

    If its configuration differs from the device of that name, return the configuration as a
    comment.
    """
    if not program.device:
        return []
    try:
        same = config.load(program.device) == config.parse(program.config_toml, program.device)
    except config.ConfigError:
        same = False
    if same:
        return [directive(f".device {program.device}")]
    return [
        f"# made for a device of its own, {program.device}; assemble with --device and a file of:",
        *(f"#   {line}".rstrip() for line in program.config_toml.splitlines()),
    ]


def _empty_control(program: Program) -> list[str]:
    """Return an empty part of the control core if the program has none; no lines otherwise.

    Without this part the assembler would add the default program.
    """
    control = registry.cores()[0]
    if not program.note_version or any(item.core == control.name for item in program.sections):
        return []
    return ["", directive(f".core {control.name}")]


def _tensors(program: Program, labels: Mapping[str, Labels], names: Names) -> list[str]:
    """Return the lines that declare named tensors and define other symbols in their sections."""
    lines, own = [], set()
    for tensor in program.tensors:
        shape = "".join(f", {length}" for length in tensor.shape)
        where = f", at={tensor.at}" if tensor.at else ""
        lines.append(directive(f".{tensor.direction} {tensor.name}, {tensor.dtype}{shape}{where}"))
        inside = labels.get(tensor.section)
        for symbol in inside.symbols_at(tensor.address) if inside else ():
            if symbol.name == tensor.name and symbol.is_global:
                own.add(symbol)
                about = inside.about(symbol, tensor.size) if inside else []
                # `.input` and `.output` make the symbol global.
                lines += [line for line in about if ".global" not in line]
    groups: dict[str, list[Tensor]] = {}
    for tensor in program.tensors:
        groups.setdefault(tensor.section, []).append(tensor)
    for symbol in program.symbols:
        group, inside = groups.get(symbol.section or ""), labels.get(symbol.section or "")
        if symbol in own or group is None or inside is None:
            continue
        before = [x for x in group if x.address <= symbol.value]
        base = max(before or group[:1], key=lambda tensor: tensor.address)
        lines += inside.about(symbol)
        value = f"{base.name} + {symbol.value - base.address}"
        lines.append(directive(f".set {names.of(symbol)}, {value}"))
    return lines


def _about(section: Section) -> list[str]:
    """Return a comment with the size and the address of the section."""
    text = f"# {section.name}: {section.size} bytes at {section.address:#010x}"
    if section.load_address != section.address:
        text += f", loaded at {section.load_address:#010x}"
    return [text]


def _opening(
    section: Section, table: Core | None, part: tuple[str, int | None] | None
) -> list[str]:
    """Return the `.core` and `.section` lines that enter the section.

    `part` is the (core, index) of the part that the lines so far have entered; None: no part.
    """
    lines = []
    own = _DATA
    if table is not None:
        own = table.section.format(section.index)
        if part != (section.core, section.index):
            index = f", {table.index}={section.index}" if table.index else ""
            lines.append(directive(f".core {section.core}{index}"))
    if section.name != own or (part is not None and not lines):
        lines.append(directive(f".section {section.name}"))
    return lines


def _hints(program: Program, table: Core) -> list[str]:
    """Return the `.hint` lines for tensors in the core's memories."""
    return [
        directive(f".hint tensor {x.name}, {x.memory}, {x.address}, {x.rows}, {x.cols}")
        for x in program.hints
        if x.core == table.name
    ]


def _contents(program: Program, section: Section, table: Core | None, labels: Labels) -> list[str]:
    """Return the lines of a section that contains no code."""
    if table is not None and section.name == table.section.format(section.index):
        lines = printer_of(table.name).part(program, section, labels)
        return data.section_lines(section, labels, words=False) if lines is None else lines
    align = [directive(f".balign {section.align}")] if section.align > 1 else []
    return align + data.section_lines(section, labels)
