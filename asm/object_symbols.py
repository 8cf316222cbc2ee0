"""Makes the symbols of an object file with addresses and sizes, and finds the entry address."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain

from macaw.asm.expressions import Address
from macaw.asm.layout import Area, Layout
from macaw.asm.program import Symbol, natural_sizes
from macaw.asm.program_symbols import ProgramSymbols
from macaw.asm.symbols import PRIVATE, Definition, SymbolTable


def address_of(symbol: Definition) -> int:
    """Return the address of a symbol after the layout; 0 if the symbol is a number."""
    value = symbol.value
    if not isinstance(value, Address):
        return 0
    assert isinstance(value.area, Area)
    return ((value.area.base or 0) + value.offset) & 0xFFFF_FFFF


# A symbol: its name, value, size or None, section, kind, and whether it is global and weak.
# A symbol without a size has its natural size in the section.
_Entry = tuple[str, int, int | None, str | None, str, bool, bool]


def symbols(program: ProgramSymbols, layout: Layout) -> tuple[Symbol, ...]:
    """Return the symbols of the object file, without private ones."""
    entries = _entries(program, layout)
    natural = _natural_sizes(layout, entries)
    make, result = Symbol._make, []
    for name, value, size, where, kind, is_global, is_weak in entries:
        if size is None:
            size = natural[where][value] if where is not None else 0
        result.append(make((name, value, size, where, kind, is_global, is_weak)))
    return tuple(result)


def sizes(program: ProgramSymbols, layout: Layout) -> dict[str, dict[int, int]]:
    """Return the sizes of symbols whose size is not declared: {section name: {address: bytes}}.

    Such a symbol extends to the next symbol or to the section's end.
    """
    return _natural_sizes(layout, _entries(program, layout))


def _entries(program: ProgramSymbols, layout: Layout) -> list[_Entry]:
    """Return the data of all symbols for the object file, except private symbols (`.L...`).

    Valid after the layout.
    """
    result: list[_Entry] = []
    shared, has_data = program.table.shared, bool(program.data)
    places: dict[object, tuple[int, str | None, str] | None] = {}
    items = chain.from_iterable(scope.symbols.values() for scope in program.table.scopes)
    for item in items:
        name, value, size = item.name, item.value, item.size
        if name.startswith(PRIVATE):
            continue
        is_global = shared.get(name) is item
        is_weak = is_global and item.is_weak
        if isinstance(value, Address):
            area, offset = value
            if area not in places:
                places[area] = _place(area, layout)
            place = places[area]
            if place is None:
                continue
            base, section, kind = place
            if size is None and section and (has_data or item.datum is not None):
                datum = program.datum(item)
                size = None if datum is None else datum.size
            address = (base + offset) & 0xFFFF_FFFF
            result.append((name, address, size, section, item.kind or kind, is_global, is_weak))
        elif isinstance(value, int):
            kind, number = item.kind or "notype", value & 0xFFFF_FFFF
            result.append((name, number, size or 0, None, kind, is_global, is_weak))
    return result


def _place(area: object, layout: Layout) -> tuple[int, str | None, str] | None:
    """Return (address of an area, name of its section, type of symbols in that section).

    For an area in an empty section, the name is None. For an area that is not in the program, the
    whole result is None.
    """
    plan = layout.plans.get(area.section) if isinstance(area, Area) else None
    if plan is None or not isinstance(area, Area) or area.base is None:
        return None
    return area.base, plan.name if plan.size else None, "func" if "x" in plan.flags else "object"


def _natural_sizes(layout: Layout, entries: Iterable[_Entry]) -> dict[str, dict[int, int]]:
    """Return the natural sizes of symbols in bytes: {section name: {address: size}}.

    A symbol's natural size is the distance to the next symbol or to the section's end. The
    assembler adds copies of tensors at the end of a section; these do not count.
    """
    values = defaultdict[str | None, list[int]](list)
    for _name, value, _size, where, _kind, _is_global, _is_weak in entries:
        values[where].append(value)
    natural = {
        section.name: natural_sizes(section, values.get(section.name, ()))
        for section in layout.sections()
    }
    for plan in layout.plans.values():
        filled = [area for area in plan.areas if area.size and not area.zeros]
        if filled and plan.areas[-1].zeros:
            start, end = filled[0].base or 0, (filled[-1].base or 0) + filled[-1].size
            inside = natural[plan.name]
            for address, size in inside.items():
                if start <= address < end:
                    inside[address] = min(size, end - address)
    return natural


def entry_of(layout: Layout, table: SymbolTable, section: str) -> int | None:
    """Return the address of `_start` in a section, or the section's start if it has no `_start`.

    Return None if the section is empty.
    """
    start = start_of(table, section)
    if start is not None:
        return address_of(start)
    plan = layout.plans.get(section)
    return plan.areas[0].base if plan is not None and plan.size else None


def start_of(table: SymbolTable, section: str) -> Definition | None:
    """Return the symbol `_start` in a section; None if the section has no such symbol.

    A shared symbol has priority over the symbols of single files.
    """
    for symbols in (table.shared, *(scope.symbols for scope in table.scopes)):
        start = symbols.get("_start")
        if start is not None and start.area is not None and start.area.section == section:
            return start
    return None
