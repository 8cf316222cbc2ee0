"""Assembles sources to a program in two passes.

The first pass appends the bytes of each statement to an area, which is a section or a piece of one.
Where a value is not known yet, the pass appends zeros, and stores a fixup: a function that writes
the value later. Then the layout gives every area its address, and the second pass calls the fixups.
All mistakes of a run are collected and raised together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from macaw.asm import output
from macaw.asm.assembly_inputs import DeviceChoice, SourceFolders, is_gnu_source
from macaw.asm.assembly_state import AssemblyState
from macaw.asm.collecting import collecting_seldom
from macaw.asm.common_symbols import place_commons
from macaw.asm.core_part import CorePart
from macaw.asm.core_parts import CoreParts
from macaw.asm.diagnostics import AssemblyError, guessing
from macaw.asm.fast_path import FastPath
from macaw.asm.listing import Record
from macaw.asm.literals import WORD, wrap
from macaw.asm.program import Program
from macaw.asm.reader import SourceReader
from macaw.asm.recorded_text import Recordings
from macaw.asm.relocatable import Linkage, Relocatable
from macaw.asm.source import LogicalLine, Source, SourceText
from macaw.asm.symbols import Deferred, Definition
from macaw.asm.syntax import AlreadyReported, Mistake, Name
from macaw.asm.text_stack import Budget
from macaw.isa.config import Configuration
from macaw.isa.lazy_pattern import lazy_pattern

__all__ = ["Source", "analyse", "assemble", "assemble_object"]

_OCTAL = lazy_pattern("[+-]?0[0-7]+")


def assemble(
    sources: str | Path | Source | Sequence[str | Path | Source],
    *,
    device: str | Configuration | None = None,
    defines: Mapping[str, str | int] | None = None,
    include_dirs: Sequence[str | Path] = (),
    record: Record | None = None,
    gnu: bool = False,
) -> Program:
    """Assemble one or several sources (paths, or texts as `Source`) and return the executable.

    `device` overrides the source's `.device`; `defines` are symbols that each file gets. The
    assembler looks for included files in a source's folder and in `include_dirs`. `record` collects
    the data for `macaw.asm.listing.text`. With `gnu`, statements before the first `.core` of a
    source belong to the control core's part.

    Raises `AssemblyError` with all mistakes, and `ConfigError` for a bad `device`.
    """
    if isinstance(sources, str | Path | Source):
        sources = [sources]
    with collecting_seldom():
        run = analyse(
            sources,
            device=device,
            defines=defines or {},
            include_dirs=include_dirs,
            record=record,
            gnu=gnu,
        )
        return run.program()


def assemble_object(
    sources: Sequence[str | Path | Source],
    *,
    device: str | Configuration | None = None,
    defines: Mapping[str, str | int] | None = None,
    include_dirs: Sequence[str | Path] = (),
    record: Record | None = None,
    gnu: bool = False,
) -> Relocatable:
    """Assemble sources and return an object for a linker.

    The arguments and the errors are the same as for `assemble`. If no source defines a symbol, the
    linker finds it in another object. If no source has code for the control core, the object has
    none: unlike `assemble`, the function adds no default program for this core.
    """
    with collecting_seldom():
        run = analyse(
            sources,
            device=device,
            defines=defines or {},
            include_dirs=include_dirs,
            record=record,
            linkage=Linkage(),
            gnu=gnu,
        )
        return run.relocatable()


def analyse(
    sources: Sequence[str | Path | Source],
    *,
    device: str | Configuration | None = None,
    defines: Mapping[str, str | int] = MappingProxyType({}),
    include_dirs: Sequence[str | Path] = (),
    record: Record | None = None,
    linkage: Linkage | None = None,
    budget: Budget | None = None,
    watch: Callable[[], None] = lambda: None,
    gnu: bool = False,
    text_of: Callable[[Path], str | None] = lambda path: None,
    recordings: Recordings | None = None,
) -> Assembly:
    """Assemble the sources and return the finished run.

    Mistakes in the sources are in the run's report; the function does not raise them. With
    `linkage`, the run makes an object for a linker. `budget` limits the lines and characters of
    expansions. The run calls `watch` repeatedly; an exception that `watch` raises ends the run. For
    a file that is open in an editor, `text_of` returns the editor's text (`SourceFolders`). In
    `recordings`, the run stores the effects of lines. If an earlier run has stored the effects of a
    line there, this run repeats the effects and does not assemble the line again.
    """
    folders = SourceFolders([Path(folder) for folder in include_dirs], text_of)
    state = AssemblyState(DeviceChoice(device), folders, record, watch, linkage, recordings)
    run = Assembly(state, defines, budget or Budget(), gnu)
    with collecting_seldom(), guessing():
        for source in sources:
            run.read_source(source)
        run.complete()
        run.lay_out()
        run.encode()
    return run


def _number(text: str) -> int:
    """Return the number of a value of `-D`, in which a leading 0 means octal, as in a source.

    Raises `ValueError`.
    """
    return int(text, 8 if _OCTAL.fullmatch(text) else 0)


class Assembly:
    """One run of the assembler.

    The caller calls the methods for its phases in this order: `read_source`, `complete`, `lay_out`,
    `encode`, and then `program` or, for an object, `relocatable`.
    """

    def __init__(
        self,
        state: AssemblyState,
        defines: Mapping[str, str | int],
        budget: Budget,
        is_gnu: bool,
    ) -> None:
        self.state = state
        self.files: list[str] = []  # the names of the caller's sources
        self._parts = CoreParts(state)
        self._fast_path = FastPath(state, self._parts)
        self._defines = defines
        self._budget = budget
        self._is_gnu = is_gnu
        self._default: CorePart | None = None  # the part of the default program, if the run has one

    def read_source(self, source: str | Path | Source, is_default: bool = False) -> None:
        """Read one source file.

        With `is_default`, the source is the default program, which the assembler adds if no source
        has code for the control core. Every other file gets the symbols of `-D`.
        """
        state = self.state
        text = state.folders.load(source, state.report)
        if text is None:
            return
        state.report.add_source(text)
        if state.record is not None:
            state.record.add_file(text)
        state.scope = state.symbols.table.scope(text.name.rpartition("/")[2])
        if not is_default:
            self.files.append(text.name)
            for name, value in self._defines.items():
                self._define(name, value, text)
        self._parts.begin_source(self._is_gnu or is_gnu_source(text.text))
        SourceReader(state, self._parts, self._fast_path, self._budget).read(text)
        self._parts.leave()

    def _define(self, name: str, value: str | int, text: SourceText) -> None:
        """Define the symbol `name` of the option `-D` in `text`, the file that the run reads."""
        report, line = self.state.report, LogicalLine(text, 0, "")
        symbol = Definition(name, line, 0, 0, is_label=False, is_used=True)
        self.state.scope.define(symbol)
        try:
            number = value if isinstance(value, int) else _number(value or "1")
        except ValueError:
            report.at_file(text.name, f"-D {name}={value}: the value is no number")
            symbol.is_bad = True
            return
        if not -WORD >> 1 <= number < WORD:
            report.at_file(text.name, f"-D {name}={value}: the number does not fit 64 bits")
        symbol.value = wrap(number)
        self.state.symbols.has_variables = True

    def complete(self) -> None:
        """Do what can be done only after all sources are read, before the layout.

        Add the default program if no source has code for the control core and the run makes no
        object. Allocate common symbols. Finish all parts of cores.
        """
        if self._parts.control() is None and self.state.linkage is None:
            source = self._parts.default_control().default_source()
            if source is not None:
                self.read_source(source, is_default=True)
                self._default = self._parts.control()
        self.state.device.check(self.state.report)
        if self.state.commons:
            place_commons(self.state, self._parts.zeros())
        self.state.is_read = True
        self._place_values()
        for part in self._parts:
            part.finish()
        if self.state.linkage is None:
            self._parts.check_tensor_memories(self._default)

    def lay_out(self) -> None:
        """Give every area its address. Report each section that does not fit its memory.

        The error points at the line that begins the part of this section, or that declares the
        last tensor of the section. If there is no such line, the error has the name of the first
        file and no line.
        """
        self._place_values()
        report = self.state.report
        for plan, problem in self.state.layout.place(self.state.config):
            owner = (plan.core, plan.index) if plan is not None else None
            part = next((x for x in self._parts if (x.core.name, x.index) == owner), None)
            inside = [tensor for tensor in self.state.symbols.tensors if tensor.plan is plan]
            if part is not None:
                report.mistake(part.line, Mistake(problem, (-1, -1)))
            elif plan is not None and plan.part_section and inside:
                last = inside[-1]
                assert last.home is not None
                report.mistake(last.definition.line, Mistake(problem, last.home))
            else:
                report.at_file(self.files[0] if self.files else "", problem)
        self.state.is_placed = True

    def encode(self) -> None:
        """Do what depends on addresses, after the layout.

        Call the fixups, compute the symbols whose values depend on addresses, and write the
        commands of the default program.
        """
        state = self.state
        for apply in state.fixups:
            state.watch()
            apply()
        for symbol in self._deferred():
            self._resolve(symbol)
        state.symbols.warn_unused()
        output.check_starts(state, self._parts)
        if self._default is not None and not state.report.has_errors:
            parts = [part for part in self._parts if part is not self._default]
            if parts:
                output.check_outputs(state, parts)
            self._default.fill_default([part.startup(parts) for part in parts])

    def _place_values(self) -> None:
        """Give each symbol that is set to a later label, or to a number from it, its value."""
        deferred = self._deferred()
        for symbol in (*deferred, *reversed(deferred)):  # each may need the one before or after it
            with self.state.report.catching(symbol.line):
                self.state.symbols.place_value(symbol)

    def _deferred(self) -> list[Definition]:
        """Return the symbols whose values are `Deferred`."""
        table = self.state.symbols.table
        # Labels have addresses: only symbols that may be set again can have deferred values.
        scopes = table.scopes if self.state.symbols.has_variables else ()
        symbols = [symbol for scope in scopes for symbol in scope.symbols.values()]
        return [symbol for symbol in symbols if isinstance(symbol.value, Deferred)]

    def _resolve(self, symbol: Definition) -> None:
        """Evaluate the deferred value of a symbol, so that a mistake in the value is reported.

        This is necessary for symbols that no line uses.
        """
        if isinstance(symbol.value, Deferred) and not symbol.is_bad:
            with self.state.report.catching(symbol.line), suppress(AlreadyReported):
                self.state.symbols.resolve(symbol, Name(symbol.start, symbol.end, symbol.name))

    def program(self) -> Program:
        """Return the assembled program. Raises `AssemblyError` if the run has reported an error."""
        diagnostics = self.state.report.diagnostics()
        if self.state.report.has_errors:
            raise AssemblyError(diagnostics)
        return output.program(self.state, self._parts, self.files, diagnostics)

    def relocatable(self) -> Relocatable:
        """Return the object for a linker.

        Raises `AssemblyError` if the run has reported an error.
        """
        program = self.program()
        assert self.state.linkage is not None
        return output.relocatable(self.state, self.state.linkage, program)
