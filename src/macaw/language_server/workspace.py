"""The open files of the editor, and the programs to which they belong.

The thread that receives messages changes the open files. The thread of the assembler loads
programs. For each load it gets a mapping, by URI, of the files that are open at that moment.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from macaw.asm.assembler import Source
from macaw.asm.diagnostics import printable_name
from macaw.asm.editing.program import EditedProgram
from macaw.asm.recorded_text import Recordings
from macaw.isa import reading
from macaw.language_server.client_options import ClientOptions
from macaw.language_server.open_file import OpenFile
from macaw.language_server.program_finder import ProgramFinder
from macaw.language_server.uris import resolve

MOST_PROGRAMS = 4  # programs whose results stay in memory

Key = tuple[str, ...]  # the key of a program: the names of its sources


class Cancelled(Exception):
    """A run of the assembler has to end: a file has changed, or another run is more urgent."""


class LoadedProgram:
    """A program with the texts that its files have at one moment.

    `key` identifies the program. `open_files` are the open files of that moment, by path.
    `recordings` has what the assembler recorded in runs over older texts of the program, so that it
    can reuse the results for unchanged lines.
    """

    def __init__(
        self,
        key: Key,
        sources: tuple[Source, ...],
        device: str | None,
        options: ClientOptions,
        open_files: Mapping[Path, OpenFile],
        recordings: Recordings,
    ) -> None:
        self.key, self.open_files = key, open_files
        self.is_stale = False  # a file on the disk has changed
        self._cancellation = threading.Event()
        self._reads: frozenset[Path] | None = None
        self.edited = EditedProgram(
            sources,
            device,
            options.include_dirs,
            options.defines,
            self._check_cancellation,
            self._text_of,
            options.gnu,
            recordings,
        )

    def _check_cancellation(self) -> None:
        if self._cancellation.is_set():
            raise Cancelled

    def _text_of(self, path: Path) -> str | None:
        file = self.open_files.get(path)
        return None if file is None else file.source

    def cancel(self) -> None:
        """Make the run of the assembler raise `Cancelled`, now or when it starts."""
        self._cancellation.set()

    def assemble(self) -> None:
        """Assemble the program, unless the result is already in memory.

        Raises `Cancelled` if another thread calls `cancel`.
        """
        self._check_cancellation()
        names = [source.name for source in self.edited.sources]
        folders = self.edited.assembly.folders
        names += [*folders.read, *folders.missing]  # a missing file may come
        if self.edited.device is not None:  # of golden.toml: a name or a file
            names.append(self.edited.device)
        self._reads = frozenset(path for path in map(resolve, names) if path is not None)

    def forget(self) -> None:
        """Discard the assembler's result, but not the list of the files that it has read."""
        self.edited.forget()

    @property
    def is_assembled(self) -> bool:
        """Whether the assembler's result is in memory."""
        return "assembly" in self.edited.__dict__

    def reads(self, path: Path | None) -> bool:
        """Return whether the program reads the file `path`.

        The result is True if `path` is None, which means any file. It is also True for a program
        that was never assembled, because such a program may read any file.
        """
        return self._reads is None or path is None or path in self._reads

    def is_current(self, open_files: Mapping[Path, OpenFile]) -> bool:
        """Return whether a run of the assembler with `open_files` would read the same texts."""
        if self.is_stale or self._cancellation.is_set():
            return False
        paths = {*self.open_files, *open_files}
        return all(
            not self.reads(path) or _text(self.open_files, path) == _text(open_files, path)
            for path in paths
        )


def _text(files: Mapping[Path, OpenFile], path: Path) -> str | None:
    file = files.get(path)
    return None if file is None else file.text


class Workspace:
    """The files that the editor has open, and the programs in memory.

    `files` are the open files by URI; the file of the latest request is the last one.
    """

    def __init__(self) -> None:
        self.options = ClientOptions()
        self.files: dict[str, OpenFile] = {}
        self.running: LoadedProgram | None = None  # the assembler works on it
        self._programs: dict[Key, LoadedProgram] = {}
        self._latest: dict[str, LoadedProgram] = {}  # by URI
        self._finder = ProgramFinder((), ())

    def configure(self, options: ClientOptions) -> None:
        """Set the options of the session, at its start."""
        self.options = options
        self._finder = ProgramFinder(options.folders, options.include_dirs)

    # --- in the thread of the messages ---

    def put(self, file: OpenFile) -> None:
        """Open a file, or replace its older version."""
        older = self.files.pop(file.uri, None)
        self.files[file.uri] = file
        if older is None or older.includes != file.includes:
            self._finder.forget()
        if older is None or older.text != file.text:
            self._cancel_reader(file.path)

    def close(self, uri: str) -> OpenFile | None:
        """Close the file `uri` and return it; return None if it is not open."""
        file = self.files.pop(uri, None)
        self._latest.pop(uri, None)
        if file is not None:
            self._finder.forget()
            self._cancel_reader(file.path)
        return file

    def changed_on_disk(self, path: Path | None) -> None:
        """Discard the results of the programs that read `path`; None means any file."""
        self._finder.forget()
        for program in list(self._programs.values()):
            program.is_stale |= program.reads(path)
        self._cancel_reader(path)

    @property
    def open_files(self) -> dict[Path, OpenFile]:
        """The open files that are on a disk, by path."""
        return {x.path: x for x in self.files.values() if x.path is not None}

    def program_of(self, uri: str) -> LoadedProgram | None:
        """Return the program that was loaded last for the open file `uri`; None if none was.

        The texts of the program may be older than those of the open files.
        """
        return self._latest.get(uri)

    def _cancel_reader(self, path: Path | None) -> None:
        """Cancel the run of the assembler if it may read `path`; None means any file."""
        running = self.running
        if running is not None and running.reads(path):
            running.cancel()

    # --- in the thread of the assembler ---

    def load(self, file: OpenFile, files: Mapping[str, OpenFile]) -> LoadedProgram:
        """Return the program to which a file belongs; `files` are the open files by URI."""
        open_files = {x.path: x for x in files.values() if x.path is not None}
        key, sources, device = self._sources(file, open_files)
        program = self._programs.pop(key, None)
        # `is_current` compares files by their paths: a file that was never saved has none.
        is_same = program is not None and program.edited.sources == sources
        if program is None or not is_same or not program.is_current(open_files):
            recordings = program.edited.recordings if program is not None else Recordings()
            program = LoadedProgram(key, sources, device, self.options, open_files, recordings)
        self._programs[key] = program
        self._latest[file.uri] = program
        for older in list(self._programs)[:-MOST_PROGRAMS]:
            self._programs.pop(older).forget()
        return program

    def assemble(self, file: OpenFile, files: Mapping[str, OpenFile]) -> LoadedProgram:
        """Assemble the program to which a file belongs, and return the program.

        `files` are the open files by URI. Raises `Cancelled` if another thread ends the run.
        """
        program = self.load(file, files)
        self.running = program
        try:
            program.assemble()
        finally:
            self.running = None
        return program

    def _sources(
        self, file: OpenFile, open_files: Mapping[Path, OpenFile]
    ) -> tuple[Key, tuple[Source, ...], str | None]:
        """Return (key, sources, device) of the program to which a file belongs.

        The key identifies the program, mostly by the names of its sources. The device is the one
        that golden.toml names, or None.
        """
        alone = Source(file.source, file.name, file.folder)
        if file.path is None or file.is_too_long:
            return (file.uri,), (alone,), None
        texts = {path: x.source for path, x in open_files.items()}
        found = self._finder.find(file.path, texts)
        sources = [
            alone if path == file.path else _source(path, open_files) for path in found.sources
        ]
        known = tuple(source for source in sources if source is not None)
        if not known:
            return (file.name,), (alone,), None
        return tuple(source.name for source in known), known, found.device

    @property
    def programs(self) -> list[LoadedProgram]:
        """The programs in memory, with the most recently requested one last."""
        return list(self._programs.values())


def _source(path: Path, open_files: Mapping[Path, OpenFile]) -> Source | None:
    """Return the file `path` as a source of a program; None if the file cannot be read."""
    file = open_files.get(path)
    if file is not None:
        return Source(file.source, file.name, file.folder)
    try:
        text = reading.decode(reading.read(path, reading.MOST_SOURCE))
    except (reading.UnreadableError, UnicodeDecodeError):
        return None
    return Source(text, printable_name(str(path)), path.parent)
