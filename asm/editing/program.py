"""A program in an editor: the sources that the run assembles, and the files that they include."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from macaw.asm.assembler import Source, analyse
from macaw.asm.assembly_inputs import is_gnu_source
from macaw.asm.assembly_state import AssemblyState
from macaw.asm.editing.source_tokens import SourceTokens
from macaw.asm.macro import Macro
from macaw.asm.object_symbols import entry_of
from macaw.asm.recorded_text import Recordings
from macaw.asm.source import SourceText
from macaw.asm.symbols import Definition, Scope
from macaw.asm.text_stack import EDITED_CHARACTERS, EDITED_LINES, Budget
from macaw.isa import registry
from macaw.isa.config import ConfigError


@dataclass(frozen=True, eq=False)
class ProgramFile:
    """A file of a program.

    `scopes` are the numbers of the sources whose symbols the file can use: for a source its own
    number, for an included file the numbers of all sources that include it. `core` is the core of
    the part in which the file begins; it is empty if the file begins outside of all parts.
    """

    name: str
    text: str
    folder: Path | None
    scopes: tuple[int, ...]
    core: str

    @cached_property
    def tokens(self) -> SourceTokens:
        """The tokens of the text."""
        return SourceTokens(self.text, self.core)


@dataclass(frozen=True, eq=False)
class EditedProgram:
    """The sources of a program, with their texts at one moment.

    If an included file is open in the editor, `text_of` returns the editor's text, else None. With
    `gnu`, statements before the first `.core` of each source belong to the control core's part.
    `recordings` has what runs over older texts of the program have recorded.
    """

    sources: tuple[Source, ...]
    device: str | None = None
    include_dirs: Sequence[str | Path] = ()
    defines: Mapping[str, str | int] = field(default_factory=dict)
    watch: Callable[[], None] = lambda: None
    text_of: Callable[[Path], str | None] = lambda path: None
    gnu: bool = False
    recordings: Recordings = field(default_factory=Recordings)

    @cached_property
    def assembly(self) -> AssemblyState:
        """The state of the assembler after a run over the sources.

        The limits for expansions are lower than in a normal run. The run calls `watch` repeatedly;
        an exception that `watch` raises ends the run. A `device` that cannot be loaded is ignored.
        """
        try:
            return self._assemble(self.device)
        except ConfigError:
            return self._assemble(None)

    def _assemble(self, device: str | None) -> AssemblyState:
        return analyse(
            self.sources,
            device=device,
            defines=self.defines,
            include_dirs=self.include_dirs,
            budget=Budget(EDITED_LINES, EDITED_CHARACTERS),
            watch=self.watch,
            text_of=self.text_of,
            gnu=self.gnu,
            recordings=self.recordings,
        ).state

    def forget(self) -> None:
        """Discard all results, so that the next question assembles the sources again."""
        for name in ("assembly", "files", "macros"):
            self.__dict__.pop(name, None)
        self.recordings.clear()

    @cached_property
    def files(self) -> Mapping[str, ProgramFile]:
        """The files of the program by name: the sources, then the files that they include."""
        files: dict[str, ProgramFile] = {}
        for number, source in enumerate(self.sources):
            if source.name not in files:
                files[source.name] = self.source_file(
                    source.name, source.text, source.folder, number
                )
        scopes: dict[str, list[int]] = {}
        for name, number in self.assembly.folders.included:
            scopes.setdefault(name, []).append(number)
        for (name, _number), text in self.assembly.folders.included.items():
            if name not in files:
                core = _core_at_include(files, text)
                files[name] = ProgramFile(name, text.text, text.folder, tuple(scopes[name]), core)
        return files

    def source_file(self, name: str, text: str, folder: Path | None, number: int) -> ProgramFile:
        """Return a text as a file of the program.

        The file uses the symbols of the source with the number `number`.
        """
        core = registry.cores()[0].name if self.gnu or is_gnu_source(text) else ""
        return ProgramFile(name, text, folder, (number,), core)

    def with_text(self, file: ProgramFile, text: str) -> ProgramFile:
        """Return a copy of `file` with the text `text`; it uses the same symbols."""
        if any(source.name == file.name for source in self.sources):
            return self.source_file(file.name, text, file.folder, file.scopes[0])
        return replace(file, text=text)

    @cached_property
    def macros(self) -> Mapping[str, Macro]:
        """The macros of all sources, by their names in lower case."""
        return {macro.name.lower(): macro for macro in self.assembly.macros}

    def scope(self, number: int) -> Scope:
        """Return the symbols of the source with this number."""
        return self.assembly.symbols.table.scopes[number]

    def files_of(self, scopes: set[int]) -> Iterator[ProgramFile]:
        """Yield the files that can use the symbols of one of these sources."""
        return (file for file in self.files.values() if scopes.intersection(file.scopes))

    def is_from_outside(self, symbol: Definition) -> bool:
        """Return whether a symbol comes from `defines`, not from a source."""
        return symbol.name in self.defines and not symbol.line.text

    def content(self) -> list[tuple[str, int | None, list[bytes]]]:
        """Return (name, entry address, bytes of each area) for each section of the program.

        The entry address of a section is the address of its symbol `_start`, else the section's
        start; it is None if the section is empty. If these lists of two programs differ, the
        programs differ. An area of zeros counts as empty, so the lists do not show its size.
        """
        state = self.assembly
        return [
            (
                plan.name,
                entry_of(state.layout, state.symbols.table, plan.name),
                [bytes(area.data) for area in plan.areas],
            )
            for plan in state.layout.plans.values()
        ]


def _core_at_include(files: Mapping[str, ProgramFile], text: SourceText) -> str:
    """Return the name of the core whose part includes `text`; empty if no part includes it."""
    assert text.caller is not None
    line = text.caller.line
    while line.source.name not in files or files[line.source.name].text != line.source.text:
        if line.source.caller is None:  # the file has been replaced since
            return ""
        line = line.source.caller.line
    return files[line.source.name].tokens.core_at(line.start)
