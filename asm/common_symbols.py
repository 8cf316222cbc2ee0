"""Allocates common symbols (`.comm`).

A common symbol is an area of zeros that several files may declare. It is allocated only if no file
defines the symbol otherwise. As in GNU ld, it has priority over a weak symbol of another file.
"""

from __future__ import annotations

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.layout import Area
from macaw.asm.program_symbols import second_definition
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import CommonSymbol, Definition
from macaw.asm.syntax import Name


def place_commons(state: AssemblyState, area: Area) -> None:
    """Allocate, at the end of `area`, each common symbol that no file defines otherwise.

    If several files declare the same name, the symbol has the largest size and the largest
    alignment of the declarations. If a symbol does not fit, the error points at its `.comm` line.
    """
    same_name: dict[tuple[str, int], list[CommonSymbol]] = {}
    for item in state.commons:
        key = item.name, id(item.scope) if item.is_local else 0
        same_name.setdefault(key, []).append(item)
    for items in same_name.values():
        first = items[0]
        found = first.scope.find(first.name)
        if found is None or (found.is_weak and first.name not in first.scope.symbols):
            with state.report.catching(first.line):
                _place(state, area, items)


def _place(state: AssemblyState, area: Area, items: list[CommonSymbol]) -> None:
    first = items[0]
    clash = first.scope.clash(first.name)
    if first.is_local and clash is not None:
        raise second_definition(Name(first.start, first.end, first.name), clash, first.scope)
    context = StatementContext(state, first.line, first.scope, state.ordinal, area, head=0)
    context.align(max(item.align for item in items))
    symbol = Definition(first.name, first.line, first.start, first.end, kind="object")
    symbol.place(area, area.size, None)
    symbol.size = max(item.size for item in items)
    if not first.is_local:
        first.scope.export(first.name, first.line, first.start, first.end)
    first.scope.define(symbol)
    context.reserve(symbol.size)
