"""Makes the program from a finished run, and does the checks that need the layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from macaw.asm.assembly_state import AssemblyState
from macaw.asm.core_part import CorePart
from macaw.asm.core_parts import CoreParts
from macaw.asm.diagnostics import Diagnostic
from macaw.asm.object_symbols import address_of, entry_of, start_of, symbols
from macaw.asm.program import Program, Symbol, Tensor, Typed
from macaw.asm.program_symbols import ProgramSymbols
from macaw.asm.relocatable import Linkage, Relocatable
from macaw.asm.symbols import Datum
from macaw.asm.syntax import Mistake

START_ALIGN = 4  # alignment of the first instruction of a program, in bytes


def program(
    state: AssemblyState,
    parts: CoreParts,
    source_files: Iterable[str],
    diagnostics: tuple[Diagnostic, ...],
) -> Program:
    """Return the program of a run without errors.

    `source_files` are the names of the run's sources, `diagnostics` its warnings.
    """
    object_symbols = symbols(state.symbols, state.layout)
    return Program(
        sections=state.layout.sections(),
        symbols=object_symbols,
        tensors=tuple(_tensors(state.symbols)),
        arrays=tuple(_arrays(state.symbols, object_symbols)),
        copies=tuple(_copies(state)),
        typed=tuple(_typed(state.symbols)),
        hints=tuple(state.hints),
        lines=state.line_table.table(),
        config_toml=state.config.to_toml(comments=False),
        device=state.config.name,
        entry=_entry(state, parts),
        source_files=tuple(source_files),
        read_files=tuple(dict.fromkeys(state.folders.read)),
        warnings=diagnostics,
    )


def relocatable(state: AssemblyState, linkage: Linkage, program: Program) -> Relocatable:
    """Return the object of a run without errors. `program` is the program of the run.

    Other objects can use the tensors and the global symbols of this object.
    """
    tensors = {(tensor.name, tensor.address) for tensor in program.tensors}
    symbols = tuple(
        item._replace(is_global=item.is_global or (item.name, item.value) in tensors)
        for item in program.symbols
    )
    scopes = state.symbols.table.scopes
    relocations = (linkage.relocations[address] for address in sorted(linkage.relocations))
    return Relocatable(
        replace(program, symbols=symbols, entry=None),
        tuple(relocations),
        state.tensor_slots.addresses(item.definition for item in state.symbols.tensors),
        frozenset(name for scope in scopes for name in scope.weak),
    )


def _tensors(program: ProgramSymbols) -> Iterator[Tensor]:
    for item in program.tensors:
        symbol, datum = item.definition, item.definition.datum
        assert datum is not None
        address = address_of(symbol)
        yield Tensor(symbol.name, item.direction, datum.dtype, datum.shape, address, item.at)


def _arrays(program: ProgramSymbols, symbols: Iterable[Symbol]) -> Iterator[Tensor]:
    """Yield the named arrays with a declared type and shape; those with global symbols first."""
    has_data = bool(program.data)
    data: dict[tuple[str, int], list[tuple[Datum, str]]] = {}
    for scope in program.table.scopes:
        for symbol in (x for x in scope.symbols.values() if has_data or x.datum is not None):
            datum = program.datum(symbol)
            if datum is not None and datum.what == "array":
                key = symbol.name, address_of(symbol)
                file = "" if program.table.shared.get(symbol.name) is symbol else scope.file
                data.setdefault(key, []).append((datum, file))
    for item in () if not data else sorted(symbols, key=lambda item: not item.is_global):
        there = data.get((item.name, item.value))
        if item.section is not None and there:
            datum, file = there.pop(0)
            yield Tensor(item.name, "array", datum.dtype, datum.shape, item.value, file=file)


def _copies(state: AssemblyState) -> Iterator[Tensor]:
    """Yield a `Tensor` for each copy of a tensor in the memory of a part, such as a PE row's."""
    for item in state.symbols.tensors:
        symbol, datum = item.definition, item.definition.datum
        assert datum is not None
        for address in state.tensor_slots.copy_addresses(symbol):
            yield Tensor(symbol.name, "copy", datum.dtype, datum.shape, address)


def _typed(program: ProgramSymbols) -> Iterator[Typed]:
    """Yield the data of each `.npy` and `.array`, with or without a symbol."""
    for item in program.data:
        base, line, datum = item.area.base, item.line, item.datum
        if datum.what == "array" and base is not None:
            file, lines, _ = line.source.places([line.start + item.head])
            yield Typed(datum.dtype, base + item.offset, datum.size, file, lines[0])


def _entry(state: AssemblyState, parts: CoreParts) -> int | None:
    """Return the address at which the control core starts: `_start`, or its first instruction.

    Return None if the program has no part of the control core.
    """
    control = parts.control()
    if control is None:
        return None
    return entry_of(state.layout, state.symbols.table, control.plan().name)


def check_outputs(state: AssemblyState, parts: Sequence[CorePart]) -> None:
    """Warn of each output to which none of `parts` can write.

    Outputs in the memory of a core without a part are left out; `CoreParts.check_tensor_memories`
    checks them.
    """
    for tensor in state.symbols.tensors:
        symbol = tensor.definition
        is_apart = tensor.plan.part_section and tensor.plan.part_section not in state.layout.plans
        if tensor.direction != "output" or symbol.is_bad or is_apart:
            continue
        if not any(part.may_write(symbol) for part in parts):
            message = f"nothing in the program writes to the output '{symbol.name}'"
            hint = f"an exe with last or shift, and out={symbol.name}, does"
            state.report.warning(
                symbol.line, (symbol.start, symbol.end), message, hint, name="unwritten-output"
            )


def check_starts(state: AssemblyState, parts: Iterable[CorePart]) -> None:
    """Report each `_start` that is not the address of an instruction, after the layout."""
    executable = [part.plan().name for part in parts if part.core.executable]
    for section in executable:
        start = start_of(state.symbols.table, section)
        if start is None or start.is_bad:
            continue
        assert start.area is not None
        address = address_of(start)
        why = ""
        if address - (start.area.base or 0) >= start.area.size:
            why = "there is no instruction at '_start', where the program begins"
        elif address % START_ALIGN:
            why = f"'_start' lies at {address:#x}, no multiple of {START_ALIGN}"
        if why:
            state.report.mistake(start.line, Mistake(why, (start.start, start.end)))
