"""The inputs of a run besides its sources: the device, and the folders with files to include."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from macaw.asm import elf_format, files
from macaw.asm.diagnostics import printable_name
from macaw.asm.report import Report
from macaw.asm.source import CHARACTER, COMMENT, STRING, LogicalLine, Source, SourceText
from macaw.asm.syntax import Mistake, Name, Text
from macaw.isa import reading, registry
from macaw.isa.config import ConfigError, Configuration, check_field, load, presets, settings
from macaw.isa.lazy_pattern import lazy_pattern

DEFAULT_DEVICE = "base"
_OF_MACAW = lazy_pattern(r"(?:^|[;:]|\*/)[^\S\n]*(\.(?:core|device))\b", re.MULTILINE)
_NO_CODE = lazy_pattern(f"{COMMENT}|{STRING}|{CHARACTER}")
_MACRO = lazy_pattern(r"\.macro[ \t]+([\w.$]+)")
_WORD = lazy_pattern(r"(?:^|[;:]|\*/)[^\S\n]*([A-Za-z_.][\w.]*)(?![\w.]*[ \t]*[:=])", re.MULTILINE)


def is_gnu_source(text: str) -> bool:
    """Return whether a source has code for the control core, but no `.core` and no `.device`."""
    if any(_are_code(text, _OF_MACAW.finditer(text))):
        return False
    control = registry.control()
    code = {".text", *control.rows, *(row.name for row in control.directives)}
    code.difference_update(_MACRO.findall(text))
    found = (match for match in _WORD.finditer(text) if match[1] in code)
    return any(_are_code(text, found))


def _are_code(text: str, found: Iterable[re.Match[str]]) -> Iterator[bool]:
    """Yield, for each word in group 1, whether it is outside of comments and strings."""
    position = 0  # no comment or string contains this place
    for match in found:
        word = match.start(1)
        while position < word and (item := _NO_CODE.search(text, position, word)):
            whole = _NO_CODE.match(text, item.start())  # `item` may end at `word`
            assert whole is not None
            position = whole.end()
        yield position <= word
        position = max(position, word)


class DeviceChoice:
    """Chooses the device of a run.

    If the caller gives a device, the run uses that device. Otherwise it uses the device of the
    `.device` line. If there is no such line, it uses `DEFAULT_DEVICE`.
    """

    def __init__(self, device: str | Configuration | None) -> None:
        self._config = load(device) if isinstance(device, str) else device
        self._fixed = device is not None
        self._used = False
        self.is_replaced = False  # a warning has said that `.setting` does not count
        self._values: dict[str, Any] = {}  # the values of `.setting` lines, by name
        # the line and the field whose value made settings contradict each other, by message
        self._contradictions: dict[str, tuple[LogicalLine, Name]] = {}

    @property
    def config(self) -> Configuration:
        """The device's configuration.

        After the first use of this property, a line that would change the device is an error.
        """
        self._used = True
        if self._config is None:
            self._config = load(DEFAULT_DEVICE)
        return self._config

    @property
    def external_bytes(self) -> int:
        """The size in bytes of the external memory of the device that is chosen so far.

        Unlike `config`, a use of this property does not fix the device.
        """
        if self._config is None:
            return self._default_external_bytes
        return int(self._config["mem.external_bytes"])

    @cached_property
    def _default_external_bytes(self) -> int:
        return int(settings()["mem.external_bytes"].default)

    def choose(
        self, line: LogicalLine, node: Name | Text, folders: SourceFolders, report: Report
    ) -> None:
        """Carry out a `.device` line: choose the device that `node` names.

        If the caller has chosen the device, the line has no effect. If `node` names a device's
        file, look for the file in `folders`. Report an unknown name, and mistakes in the file.
        Raises `Mistake` if there is no such file, if another device is chosen already, or if
        earlier lines depend on the device.
        """
        try:
            name = node.text if isinstance(node, Name) else str(folders.find(line, node)[0])
            config = load(name)
        except files.FileError as error:
            raise Mistake(str(error), node) from None
        except ConfigError as error:
            mistakes = [_mistake(message, node) for message in error.mistakes]
            report.mistake(line, *mistakes)
            near = mistakes[0].hint.removeprefix("did you mean '").removesuffix("'?")
            if isinstance(node, Name) and near in presets() and self._config is None:
                self._config = load(near)  # so that later lines can be checked
            return
        if self._fixed or config == self._config:
            return
        if self._used:
            hint = "write it before everything that depends on the device"
            raise Mistake(".device comes too late", node, hint)
        if self._config is not None:
            raise Mistake(f"the device is {self._config.name} already", node)
        self._config = config

    @property
    def is_fixed(self) -> bool:
        """Whether the caller chose the device, so that `.device` in a source has no effect."""
        return self._fixed

    def change(self, line: LogicalLine, field: Name, value: Any) -> None:
        """Carry out a `.setting` line: give the device's setting `field` another value.

        If the caller has chosen the device, the line has no effect. The setting `name` is the
        device's name. Settings may contradict each other until later lines change them; after the
        last line, `check` reports the settings that still contradict each other. Raises `Mistake`.
        """
        if self._fixed:
            return
        if self._used:
            hint = "write it after .device, before what depends on the device"
            raise Mistake(".setting comes too late", field, hint)
        base = self._config or load(DEFAULT_DEVICE)
        self._config = base
        try:
            if field.text == "name":
                self._config = Configuration(value, dict(base))
                return
            check_field(field.text, value)
        except ConfigError as error:
            raise _mistake(str(error), field) from None
        self._values[field.text] = value
        try:
            self._config = base.changed(self._values)
            self._values, self._contradictions = {}, {}
        except ConfigError as error:
            earlier = self._contradictions
            self._contradictions = {x: earlier.get(x, (line, field)) for x in error.mistakes}

    def check(self, report: Report) -> None:
        """After all `.setting` lines, report the settings that still contradict each other."""
        by_line: dict[LogicalLine, list[Mistake]] = {}
        for message, (line, field) in self._contradictions.items():
            by_line.setdefault(line, []).append(Mistake(message, field))
        for line, mistakes in by_line.items():
            report.mistake(line, *mistakes)


def _mistake(message: str, node: Name | Text) -> Mistake:
    """Return the message of a `ConfigError` as a `Mistake` at `node`.

    If the message suggests a name, the suggestion becomes the hint of the `Mistake`.
    """
    text, _, near = message.partition("; did you mean")
    return Mistake(text, node, f"did you mean{near}" if near else "")


def why_no_text(error: UnicodeDecodeError) -> tuple[str, int]:
    """Return why the bytes of a file are no source text, and the place of the wrong byte."""
    if bytes(error.object).startswith(elf_format.MAGIC):
        return "the file is an ELF file, no source text", 0
    return f"byte {error.start} is not UTF-8 text", error.start


class SourceFolders:
    """The `-I` folders where a run looks for files, and the files that the run has read.

    If a file is open in an editor, `text_of` returns the editor's text, which replaces the contents
    of the file. For any other file `text_of` returns None. `read` has the names of all files that
    the run has read, and `missing` the paths at which it has found no file. `included` has each
    text that `.include` has read, by the name of the file and the number of the source that
    includes it.
    """

    def __init__(
        self, folders: Sequence[Path], text_of: Callable[[Path], str | None] = lambda path: None
    ) -> None:
        self._folders, self._text_of = folders, text_of
        self.read: list[str] = []
        self.missing: list[str] = []
        self.included: dict[tuple[str, int], SourceText] = {}

    def load(self, source: str | Path | Source, report: Report) -> SourceText | None:
        """Return the text of a source. Report an unreadable file and return None."""
        if isinstance(source, Source):
            return SourceText(source.text, printable_name(source.name), source.folder)
        path = Path(source)
        self.read.append(str(path))
        try:
            text = reading.decode(reading.read(path, reading.MOST_SOURCE))
        except UnicodeDecodeError as error:
            message, place = why_no_text(error)
            report.at_file(str(source), message, reading.decode(error.object[:place]))
            return None
        except reading.UnreadableError as error:
            report.at_file(str(source), f"cannot read the file: {error}")
            return None
        return SourceText(text, printable_name(str(source)), path.parent)

    def find(self, line: LogicalLine, name: Text) -> tuple[Path, str]:
        """Return the path of the file `name` that a line includes, and its name for messages.

        Raises `FileError`.
        """
        own = line.source.folder
        folders = [*([own] if own is not None else []), *self._folders]
        try:
            wanted = name.value.decode("utf-8")
            result = files.find_named(wanted, folders)
        except UnicodeDecodeError:
            raise files.FileError("the name of a file is UTF-8 text") from None
        except files.FileError:
            self.missing += [str(folder / wanted) for folder in folders]
            raise
        self.read.append(str(result[0]))
        return result

    def text(self, path: Path, limit: int) -> str:
        """Return the text of an included file. Raises `FileError` and `UnicodeDecodeError`.

        The file may have at most `limit` bytes.
        """
        edited = self._text_of(path)
        return reading.decode(files.read(path, limit)) if edited is None else edited
