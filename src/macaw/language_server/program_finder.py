"""Finds the sources that are assembled together with a file, by golden.toml and `.include`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from macaw.golden_description import DESCRIPTION_FILE, read_description
from macaw.isa import reading
from macaw.isa.errors import MacawError
from macaw.language_server.uris import resolve

SOURCE_ENDINGS = (".s", ".S", ".asm", ".inc", ".h")
_INCLUDE = re.compile(r'[^#"\n]*?\.include[ \t]+"([^"\n]+)"')
_MOST_LEVELS = 6  # folders above a file that are searched
_MOST_FILES = 500  # files of a folder that are read
_MOST_BYTES = 1 << 20  # of a file that is searched for `.include`


@dataclass(frozen=True, slots=True)
class ProgramDescription:
    """The sources of a program, in their order, and the device that its golden.toml names."""

    sources: tuple[Path, ...]
    device: str | None = None


def includes(text: str) -> tuple[str, ...]:
    """Return the names in the `.include` lines of a text."""
    names = []
    place = text.find(".include")
    while place >= 0:
        match = _INCLUDE.match(text, text.rfind("\n", 0, place) + 1)
        if match is not None:
            names.append(match[1])
        end = text.find("\n", place)
        place = text.find(".include", end) if end >= 0 else -1
    return tuple(names)


def determines_programs(path: Path) -> bool:
    """Return whether a file can decide which files are assembled together.

    A golden.toml can, because it names a program's sources, and a source, because it includes other
    files.
    """
    return path.name == DESCRIPTION_FILE or path.suffix in SOURCE_ENDINGS


class ProgramFinder:
    """Finds the programs to which files belong.

    It stores the contents of the files that it has read, until `forget` is called.
    """

    def __init__(self, folders: Sequence[Path], include_dirs: Iterable[str]) -> None:
        """Create a finder for an editor with the open `folders`.

        The finder searches the folders above a file, up to an open folder or a few levels high.
        `include_dirs` are the further folders in which the assembler looks for included files.
        """
        self._folders = [path for path in map(resolve, folders) if path is not None]
        self._include_dirs = [path for path in map(resolve, include_dirs) if path is not None]
        self._programs: dict[Path, ProgramDescription] = {}
        self._included: dict[Path, tuple[str, ...]] = {}

    def forget(self) -> None:
        """Discard the stored contents, so that the next call of `find` reads all files again."""
        self._programs.clear()
        self._included.clear()

    def find(self, path: Path, texts: Mapping[Path, str]) -> ProgramDescription:
        """Return the program to which a file belongs; `texts` are the texts of open files by path.

        If a golden.toml names the file, the result is the program of that golden.toml. Otherwise,
        if other files include the file, the result is the program of one of those files, if
        possible of an open file. Otherwise the file alone is the program.
        """
        found = self._programs.get(path)  # another thread may call `forget` meanwhile
        if found is None:
            found = self._programs[path] = self._search(path, texts)
        return found

    def _search(self, path: Path, texts: Mapping[Path, str]) -> ProgramDescription:
        chain = [path]  # each file is included by the next one
        while True:
            described = self._described(chain[-1])
            if described is not None:
                return described
            including = [x for x in self._including(chain[-1], texts) if x not in chain]
            if not including:
                return ProgramDescription((chain[-1],))
            chain.append(min(including, key=lambda x: self._rank(x, texts)))

    def _rank(self, path: Path, texts: Mapping[Path, str]) -> tuple[bool, bool, str]:
        return path not in texts, self._described(path) is None, str(path)

    def _described(self, path: Path) -> ProgramDescription | None:
        """Return the program of the golden.toml that names the source `path`.

        Returns None if no golden.toml above the source names it.
        """
        for folder in self._above(path):
            if (folder / DESCRIPTION_FILE).is_file():
                try:
                    golden = read_description(folder)
                except MacawError:
                    continue
                sources = [resolve(source) for source in golden.sources]
                if path in sources:
                    known = tuple(source for source in sources if source is not None)
                    return ProgramDescription(known, golden.device)
        return None

    def _above(self, path: Path) -> Iterator[Path]:
        """Yield the folders above a file, the nearest first, up to one that the editor has open."""
        for folder in list(path.parents)[:_MOST_LEVELS]:
            yield folder
            if folder in self._folders:
                return

    def _including(self, path: Path, texts: Mapping[Path, str]) -> Iterator[Path]:
        """Yield the files that include the file `path`; `texts` are texts of open files by path."""
        for other, names in self._candidates(path, texts):
            bases = [*self._above(other), *self._include_dirs]
            if other != path and any(resolve(base / x) == path for base in bases for x in names):
                yield other

    def _candidates(
        self, path: Path, texts: Mapping[Path, str]
    ) -> Iterator[tuple[Path, Sequence[str]]]:
        """Yield the files that may include `path`, and the names in their `.include` lines."""
        for other, text in texts.items():
            yield other, includes(text)
        folders = [*self._above(path), *self._folders]
        for folder in dict.fromkeys(folders):
            for other in _sources(folder):
                if other not in texts:
                    yield other, self._includes_of(other)

    def _includes_of(self, path: Path) -> Sequence[str]:
        names = self._included.get(path)
        if names is None:
            try:
                text = reading.read(path, _MOST_BYTES).decode("utf-8", "replace")
            except reading.UnreadableError:
                text = ""
            names = self._included[path] = includes(text)
        return names


def _sources(folder: Path) -> list[Path]:
    """Return the sources in a folder, sorted by name."""
    try:
        files = [path for path in folder.iterdir() if path.suffix in SOURCE_ENDINGS]
    except OSError:
        return []
    return sorted(path for path in files if path.is_file())[:_MOST_FILES]
