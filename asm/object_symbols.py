"""Makes the symbols of an object file: their addresses and sizes, and the entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from macaw.asm.expressions import Address
from macaw.asm.layout import Area, Layout
from macaw.asm.program import Symbol, natural_sizes
from macaw.asm.program_symbols import ProgramSymbols
from macaw.asm.symbols import PRIVATE, Definition, SymbolTable

_NATURAL = -1  # the size of a symbol that reaches to the next one


def address_of(symbol: Definition) -> int:
    """Return the address of a symbol after the layout; 0 if the symbol is a number."""
    value = symbol.value
    if not isinstance(value, Address):
        return 0
    assert isinstance(value.area, Area)
    return ((value.area.base or 0) + value.offset) & 0xFFFF_FFFF


def symbols(program: ProgramSymbols, layout: Layout) -> list[Symbol]:
    """Return the symbols of the object file, without private ones.

    If the source gives no size for a symbol, the symbol has the special size `_NATURAL`. The caller
    replaces it with `with_sizes`.
    """
    result = []
    shared, has_data = program.table.shared, bool(program.data)
    places: dict[object, tuple[int, str | None, str] | None] = {}
    for item in (item for scope in program.table.scopes for item in scope.symbols.values()):
        name, value, size = item.name, item.value, item.size
        if name.startswith(PRIVATE):
            continue
        is_global = shared.get(name) is item
        is_weak = is_global and item.is_weak
        if isinstance(value, Address):
            if value.area not in places:
                places[value.area] = _place(value.area, layout)
            place = places[value.area]
            if place is None:
                continue
            base, section, kind = place
            if size is None:
                size = _NATURAL if section else 0
            if size == _NATURAL and (has_data or item.datum is not None):
                datum = program.datum(item)
                size = datum.size if datum is not None else size
            address = (base + value.offset) & 0xFFFF_FFFF
            kind = item.kind or kind
            result.append(Symbol(name, address, size, section, kind, is_global, is_weak))
        elif isinstance(value, int):
            kind, number = item.kind or "notype", value & 0xFFFF_FFFF
            result.append(Symbol(name, number, size or 0, None, kind, is_global, is_weak))
    return result


def _place(area: object, layout: Layout) -> tuple[int, str | None, str] | None:
    """Return the address of an area, its section, and the type of the symbols in it.

    The section is None if it is empty. Return None for an area that is not in the program.
    """
    plan = layout.plans.get(area.section) if isinstance(area, Area) else None
    if plan is None or not isinstance(area, Area) or area.base is None:
        return None
    return area.base, plan.name if plan.size else None, "func" if "x" in plan.flags else "object"


def sizes(layout: Layout, symbols: Sequence[Symbol]) -> dict[str, dict[int, int]]:
    """Return the natural size in bytes of each symbol, by section and address.

    The slots of tensors, which the assembler adds at the end of a section, belong to no symbol.
    """
    natural = {section.name: natural_sizes(section, symbols) for section in layout.sections()}
    for plan in layout.plans.values():
        filled = [area for area in plan.areas if area.size and not area.zeros]
        if not filled or not plan.areas[-1].zeros:
            continue
        start, end = filled[0].base or 0, (filled[-1].base or 0) + filled[-1].size
        inside = natural[plan.name]
        for address, size in inside.items():
            if start <= address < end:
                inside[address] = min(size, end - address)
    return natural


def with_sizes(
    symbols: Iterable[Symbol], natural: Mapping[str, Mapping[int, int]]
) -> Iterator[Symbol]:
    """Yield the symbols with `_NATURAL` replaced by their sizes in `natural`."""
    for symbol in symbols:
        name, value, size, section, kind, is_global, is_weak = symbol
        if size == _NATURAL and section is not None:
            size = natural[section].get(value, 0)
            yield Symbol(name, value, size, section, kind, is_global, is_weak)
        else:
            yield symbol


def entry_of(layout: Layout, table: SymbolTable, section: str) -> int | None:
    """Return the address of `_start` in the section, else the section's start.

    Return None if it is empty.
    """
    start = start_of(table, section)
    if start is not None:
        return address_of(start)
    plan = layout.plans.get(section)
    return plan.areas[0].base if plan is not None and plan.size else None


def start_of(table: SymbolTable, section: str) -> Definition | None:
    """Return the symbol `_start` in a section; None if there is none.

    A shared symbol has priority over the symbols of single files.
    """
    for symbols in (table.shared, *(scope.symbols for scope in table.scopes)):
        start = symbols.get("_start")
        if start is not None and start.area is not None and start.area.section == section:
            return start
    return None
