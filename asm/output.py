"""What was read and laid out, as a program: symbols with sizes, tensors, lines, entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from macaw.asm.diagnostics import Diagnostic
from macaw.asm.expressions import Address
from macaw.asm.layout import Area, Layout
from macaw.asm.naming import Naming
from macaw.asm.program import Program, Symbol, Tensor, Typed, natural_sizes
from macaw.asm.symbols import Definition
from macaw.asm.syntax import Mistake

if TYPE_CHECKING:
    from macaw.asm.assembler import Assembly

START_ALIGN = 4  # of the instruction that a program begins with
_NATURAL = -1  # the size of a symbol that reaches to the next one


def address_of(found: Definition) -> int:
    """The address of a symbol, everything being laid out; 0 if it is a number."""
    value = found.value
    if not isinstance(value, Address):
        return 0
    assert isinstance(value.area, Area)
    return ((value.area.base or 0) + value.offset) & 0xFFFF_FFFF


def symbols(names: Naming, layout: Layout) -> list[Symbol]:
    """The symbols of the object; the size is `_NATURAL` where it follows from the neighbours."""
    found = []
    for scope in names.table.scopes:
        for item in scope.symbols.values():
            if not item.is_private:
                is_global = names.table.shared.get(item.name) is item
                symbol = _symbol(item, is_global, names, layout)
                if symbol is not None:
                    found.append(symbol)
    return found


def _symbol(found: Definition, is_global: bool, names: Naming, layout: Layout) -> Symbol | None:
    value = found.value
    if isinstance(value, int):
        kind, size = found.kind or "notype", found.size or 0
        return Symbol(found.name, value & 0xFFFF_FFFF, size, None, kind, is_global)
    if not isinstance(value, Address) or not isinstance(value.area, Area):
        return None
    plan = layout.plans.get(value.area.section)
    if plan is None or value.area.base is None:
        return None
    kind = found.kind or ("func" if "x" in plan.flags else "object")
    section = plan.name if plan.size else None
    size = found.size if found.size is not None else _NATURAL if section else 0
    datum = names.datum(found)
    if size == _NATURAL and datum is not None:
        size = datum.size
    return Symbol(found.name, address_of(found), size, section, kind, is_global)


def sizes(layout: Layout, found: Sequence[Symbol]) -> dict[tuple[str, int], int]:
    """The bytes from each symbol, by name and value, to the next one or the end of its section.

    Places of tensors that the assembler puts behind the rest of a section belong to no symbol.
    """
    inside: dict[str | None, list[Symbol]] = {}
    for symbol in found:
        inside.setdefault(symbol.section, []).append(symbol)
    natural = {
        key: size
        for section in layout.sections()
        for key, size in natural_sizes(section, inside.get(section.name, ())).items()
    }
    for plan in layout.plans.values():
        filled = [area for area in plan.areas if area.size and not area.zeros]
        if not filled or not plan.areas[-1].zeros:
            continue
        start, end = filled[0].base or 0, (filled[-1].base or 0) + filled[-1].size
        for (name, value), size in natural.items():
            if start <= value < end:
                natural[name, value] = min(size, end - value)
    return natural


def program(assembly: Assembly, diagnostics: tuple[Diagnostic, ...]) -> Program:
    """The program of a run without errors."""
    found = symbols(assembly.names, assembly.layout)
    natural = sizes(assembly.layout, found)
    return Program(
        sections=assembly.layout.sections(),
        symbols=tuple(_sized(item, natural) for item in found),
        tensors=tuple(_tensors(assembly.names)),
        arrays=tuple(_arrays(assembly.names, found)),
        typed=tuple(_typed(assembly.names)),
        hints=tuple(assembly.hints),
        lines=assembly.marks.table(),
        config_toml=assembly.config.to_toml(comments=False),
        device=assembly.config.name,
        entry=_entry(assembly),
        source_files=tuple(assembly.files),
        read_files=tuple(dict.fromkeys(assembly.folders.read)),
        warnings=diagnostics,
    )


def _sized(symbol: Symbol, natural: Mapping[tuple[str, int], int]) -> Symbol:
    """The symbol with its size, given or natural."""
    if symbol.size != _NATURAL:
        return symbol
    size = natural.get((symbol.name, symbol.value), 0)
    return Symbol(symbol.name, symbol.value, size, symbol.section, symbol.kind, symbol.is_global)


def _tensors(names: Naming) -> Iterator[Tensor]:
    for item in names.tensors:
        found, datum = item.definition, item.definition.datum
        assert datum is not None
        address = address_of(found)
        yield Tensor(found.name, item.direction, datum.dtype, datum.shape, address, item.at)


def _arrays(names: Naming, symbols: Iterable[Symbol]) -> Iterator[Tensor]:
    """The symbols that stand for an array whose type and shape the source says, global first."""
    data = {
        (found.name, address_of(found)): names.datum(found)
        for scope in names.table.scopes
        for found in scope.symbols.values()
    }
    for symbol in sorted(symbols, key=lambda item: not item.is_global):
        datum = data.get((symbol.name, symbol.value))
        if symbol.section is not None and datum is not None and datum.what == "array":
            yield Tensor(symbol.name, "array", datum.dtype, datum.shape, symbol.value)


def _typed(names: Naming) -> Iterator[Typed]:
    """All data whose element type the source says, with a symbol or without."""
    for site, offset, datum in names.placed:
        base, line = site.area.base, site.line
        if datum.what == "array" and base is not None:
            file, lines, _ = line.source.places([line.start + site.head])
            yield Typed(datum.dtype, base + offset, datum.size, file, lines[0])


def _entry(assembly: Assembly) -> int | None:
    """`_start`, or the first instruction of the core that the device starts."""
    control = assembly.parts.control()
    if control is None:
        return None
    return entry_of(assembly, control.plan().name)


def entry_of(assembly: Assembly, section: str) -> int | None:
    """`_start` in the section, or where that begins; None if nothing is in it."""
    found = start_of(assembly, section)
    if found is not None:
        return address_of(found)
    placed = assembly.layout.plans.get(section)
    return placed.areas[0].base if placed is not None and placed.size else None


def start_of(assembly: Assembly, section: str) -> Definition | None:
    """The symbol `_start` of a section, a shared one before those of single files."""
    table = assembly.names.table
    for symbols in (table.shared, *(scope.symbols for scope in table.scopes)):
        found = symbols.get("_start")
        value = found.value if found is not None else None
        if not isinstance(value, Address) or not isinstance(value.area, Area):
            continue
        if value.area.section == section:
            return found
    return None


def check_outputs(assembly: Assembly, may_write: Callable[[Definition], bool]) -> None:
    """Warn of each output to which no part can write, by what `may_write` says of it."""
    for tensor in assembly.names.tensors:
        found = tensor.definition
        is_apart = tensor.plan.behind and tensor.plan.behind not in assembly.layout.plans
        if tensor.direction != "output" or found.bad or is_apart:
            continue
        if not may_write(found):
            message = f"nothing in the program writes to the output '{found.name}'"
            hint = f"an exe with last or shift, and out={found.name}, does"
            assembly.report.warning(found.line, (found.start, found.end), message, hint)


def check_starts(assembly: Assembly) -> None:
    """Report each `_start` at which no instruction can be, everything being laid out."""
    for form in assembly.parts:
        found = start_of(assembly, form.plan().name) if form.core.executable else None
        if found is None or found.bad:
            continue
        assert isinstance(found.value, Address)
        assert isinstance(found.value.area, Area)
        why = ""
        if found.value.offset >= found.value.area.size:
            why = "no instruction stands at '_start', where the program begins"
        elif address_of(found) % START_ALIGN:
            why = f"'_start' lies at {address_of(found):#x}, no multiple of {START_ALIGN}"
        if why:
            assembly.report.mistake(found.line, Mistake(why, (found.start, found.end)))
