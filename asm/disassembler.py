"""Prints a program as source text that assembles to the same bytes.

Addresses to which instructions refer get labels; bytes that are not instructions become data. The
core's module in `asm/disassembly/forms` prints the contents of a part that are not plain
instructions. If directives cannot produce the bytes of a part, the part is printed as data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from macaw.asm.diagnostics import printable
from macaw.asm.disassembly import code, data, objects
from macaw.asm.disassembly.forms import Naming, printer_of
from macaw.asm.disassembly.labels import Labels, Names, directive, numbers
from macaw.asm.disassembly.raw import dump
from macaw.asm.linker_script import external_outputs
from macaw.asm.object_file import ObjectFile
from macaw.asm.program import TENSORS, Program, Section, Tensor
from macaw.isa import config, memory_map, registry
from macaw.isa.errors import MacawError
from macaw.isa.model import Core

_DATA = ".data"


class DisassemblyError(MacawError, ValueError):
    """The error for a program that lacks the requested section, or parts of the requested core."""


def disassemble(
    program: Program, core: str | None = None, *, only: str | None = None, raw: bool = False
) -> str:
    """Return the source text of a program, or only of the parts of `core`, or of one section.

    With `raw`, return a dump of the bytes instead. Raises `DisassemblyError`.
    """
    sections = _chosen_sections(program, core, only)
    names = Names(program.symbols)
    labels = {section.name: Labels(section, program, names) for section in program.sections}
    tables = {item.core: registry.core(item.core) for item in sections if item.core is not None}
    if raw:
        return dump(program, sections, tables, labels)
    for section in sections:
        if section.flags == "ax" and section.core is not None:
            code.make_targets(section, tables[section.core], labels[section.name])
        if not program.note_version and program.entry is not None and section.holds(program.entry):
            labels[section.name].make(program.entry)
    exact, near = _namings(program, labels, names)
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
        lines += ["", *_about(section)]
        place = _fixed_place(program, section)
        lines += _opening(section, table, part) if place is None else _at(place, part)
        if place is not None:
            part = registry.names()[0], None
            lines += _fixed_contents(program, section, labels[section.name], exact, near)
            continue
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
    if core is None and only is None:
        lines += _empty_control(program)
        lines += _entry(program, exact)
    return "\n".join(lines).strip("\n") + "\n"


def _namings(program: Program, labels: Mapping[str, Labels], names: Names) -> tuple[Naming, Naming]:
    """Return two functions, each of which returns a name for an address.

    The first function is for operands: it returns the label of exactly this address. The second one
    is for comments: it returns the nearest symbol at or before the address, with the distance. Both
    return None if there is no name.
    """

    def exact(address: int) -> str | None:
        section = program.section_at(address)
        return labels[section.name].at(address) if section else None

    def near(address: int) -> str | None:
        symbol = program.symbol_at(address)
        if symbol is None:
            return None
        return names.of(symbol[0]) + (f" + {symbol[1]}" if symbol[1] else "")

    return exact, near


def _chosen_sections(program: Program, core: str | None, only: str | None) -> list[Section]:
    """Return the sections that belong to `core` and have the name `only`, in the listing's order.

    If `core` or `only` is None, it restricts nothing. Raises `DisassemblyError` if no section
    remains.
    """
    sections = [item for item in program.sections if core is None or item.core == core]
    if core is not None and not sections:
        raise _no_part(core, program.sections)
    if only is not None:
        names_found = [item.name for item in sections]
        sections = [item for item in sections if item.name == only]
        if not sections:
            raise _no_section(only, names_found)
    if not program.note_version and _is_fixed(program):
        sections.sort(key=lambda item: item.address)
    return sections


def list_object(item: ObjectFile, core: str | None = None, *, only: str | None = None) -> str:
    """Return the listing of an object file.

    With `core`, list only the sections of this core; with `only`, only the sections of this name.
    The listing cannot be assembled again, because the linker chooses the addresses. Raises
    `DisassemblyError`.
    """
    sections = [x for x in item.sections if core is None or x.section.core == core]
    if core is not None and not sections:
        raise _no_part(core, [x.section for x in item.sections])
    chosen = [x for x in sections if only in (None, x.name, x.section.name)]
    if only is not None and not chosen:
        raise _no_section(only, [x.name for x in sections])
    return objects.listing(chosen)


def _no_section(name: str, names: Iterable[str]) -> DisassemblyError:
    found = ", ".join(dict.fromkeys(names)) or "none"
    return DisassemblyError(f"no section is called '{name}', there are {found}")


def _no_part(core: str, sections: Iterable[Section]) -> DisassemblyError:
    cores = ", ".join(dict.fromkeys(item.core for item in sections if item.core)) or "none"
    return DisassemblyError(f"the program has no part of a core '{core}', there are {cores}")


def _origin(program: Program) -> list[str]:
    """Return a comment that says that another tool made the program; no lines if Macaw made it."""
    if program.note_version and not program.is_linked:
        return []
    what = (
        "Linked with objects of other tools" if program.is_linked else "Another tool's executable"
    )
    if _is_fixed(program):
        return [f"# {what}. Everything stays where it is.", ""]
    why = "C in external memory" if program.is_linked else "it"
    return [
        f"# {what}. This is for reading only: the assembler would give {why} another layout.",
        "",
    ]


def _is_fixed(program: Program) -> bool:
    """Return whether source text can reproduce the addresses of a program that another tool linked.

    If the program has no parts from Macaw, all its sections must be in local or external memory. If
    it has parts from Macaw, the other tool must have added no sections in external memory: such a
    section would follow Macaw's tensors, and the assembler can place nothing after tensors.
    """
    if program.is_linked:
        external = {output.name for output in external_outputs()}
        return not any(item.name in external and item.size for item in program.sections)
    return all(
        memory_map.TEXT <= item.address < item.end <= memory_map.UNITS
        or item.address >= memory_map.EXTERNAL
        for item in program.sections
    )


def _fixed_place(program: Program, section: Section) -> tuple[str, int] | None:
    """Return where `.org` must put a section of a program that another tool linked.

    The result is (section of cp, byte offset in that section), such as (".text", 64). Return None
    if the assembler gives the section its address without `.org`, or if no source text can
    reproduce the addresses.
    """
    if (program.note_version and not program.is_linked) or not _is_fixed(program):
        return None
    if program.is_linked and not memory_map.TEXT <= section.address < memory_map.UNITS:
        return None
    if section.address >= memory_map.EXTERNAL:
        return ".data", section.address - memory_map.EXTERNAL
    return ".text", section.address - memory_map.TEXT


def _at(place: tuple[str, int], part: tuple[str, int | None] | None) -> list[str]:
    """Return directives that make the assembler continue at `place`.

    `place` is (section of cp, byte offset in the section). `part` is the (core, index) of the part
    that earlier lines have entered, or None.
    """
    name, offset = place
    control = registry.names()[0]
    lines = [f".core {control}"] if part != (control, None) else []
    return [directive(line) for line in (*lines, f".section {name}", f".org {offset:#x}")]


def _fixed_contents(
    program: Program, section: Section, labels: Labels, exact: Naming, near: Naming
) -> list[str]:
    """Return the lines of a section that another tool linked to a fixed address.

    For an address, `exact` returns the name that an operand shows, and `near` the name that a
    comment shows.
    """
    if section.flags != "ax" or section.nobits:
        return data.section_lines(section, labels)
    table = registry.control()
    printer = printer_of(table.name)
    printer.open(program, section)
    return code.section_lines(section, table, labels, exact, near, printer)


def _entry(program: Program, exact: Naming) -> list[str]:
    """Return the line that sets the entry of a program that another tool linked.

    If the name of the entry is `_start`, no line is necessary.
    """
    if program.note_version or not _is_fixed(program) or program.entry is None:
        return []
    name = exact(program.entry)
    return [] if name in (None, "_start") else ["", directive(f".set _start, {name}")]


def _device(program: Program) -> list[str]:
    """Return the `.device` line of the program.

    If the program's configuration differs from the device of that name, `.setting` lines follow.
    """
    if not program.device:
        return []
    preset = [directive(f".device {program.device}")]
    try:
        own = config.parse(program.config_toml, program.device)
    except config.ConfigError as error:
        return [f"# The device of the file cannot be read: {printable(str(error))}", *preset]
    try:
        same = config.load(program.device) == own
    except config.ConfigError:
        same = False
    return preset if same else _own_device(own)


def _own_device(own: config.Configuration) -> list[str]:
    """Return the lines for a device that is no preset: a preset, and the settings that differ.

    The preset is the one with the device's name, else the one with the fewest differences.
    """
    candidates = [own.name] if own.name in config.presets() else config.presets()

    def differences(name: str) -> list[str]:
        preset = config.load(name)
        changed = [] if name == own.name else [f"name, {config.shown(own.name)}"]
        changed += [f"{x}, {config.shown(own[x])}" for x in own if own[x] != preset[x]]
        return changed

    preset = min(candidates, key=lambda name: len(differences(name)))
    lines = [f".device {preset}", *(f".setting {item}" for item in differences(preset))]
    return [directive(line) for line in lines]


def _empty_control(program: Program) -> list[str]:
    """If the program has no part of the control core, return lines that begin an empty one.

    Without these lines, the assembler would add the default program.
    """
    control = registry.control()
    if not program.note_version or any(item.core == control.name for item in program.sections):
        return []
    return ["", directive(f".core {control.name}")]


def _tensors(program: Program, labels: Mapping[str, Labels], names: Names) -> list[str]:
    """Return the lines that declare tensors or define other symbols in the sections of tensors."""
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

    `table` is the core of the section. `part` is the (core, index) of the part that earlier lines
    have entered, or None.
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
