"""The configuration of a device: the values of all its settings, by dotted name.

The settings are the `Setting` rows of this module and of every core's descriptor. A device file is
TOML; a nested table stands for the part of a name before a dot. The file needs to contain only
values that differ from the defaults. It may also contain `name`, the device's name, and `format`,
the version of the file's format; these two are not settings.
"""

from __future__ import annotations

import math
import numbers
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, cached_property, lru_cache
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

from macaw.isa import reading, registry, trace
from macaw.isa.errors import MacawError
from macaw.isa.format_versions import version_problem
from macaw.isa.lazy_pattern import lazy_pattern
from macaw.isa.model import Setting

Value = bool | int | float | str

FORMAT = 1  # version of a device file
MAPPINGS = ("input", "weight", "output")  # the operand that stays in the PEs (seed 000 Fig. 7)

# Settings of the memory. A core's own settings are in its descriptor.
# fmt: off
COMMON = (
    Setting("mem.local_bytes",      16 << 20, "cp's local memory",                                   "bytes",         128 << 10, 256 << 20,          step=4096),
    Setting("mem.unit_half_bytes", 512 << 10, "half of an on-chip memory unit, ping or pong",        "bytes",              1024, 512 << 10,          step=1024),
    Setting("mem.banks",                  16, "banks of a half; one access a bank a cycle",          "",                      1, 1024),
    Setting("mem.bank_width",              8, "width of a bank",                                     "bytes",                 4, 64,                 step=4),
    Setting("mem.onchip_latency",          2, "latency, from the grant of a bank to the data",                "cycles",                1, 64),
    Setting("mem.external_bytes",  256 << 20, "external memory",                                     "bytes",           1 << 20, 2 << 30,            step=4096),
    Setting("mem.external_latency",       20, "latency, from a request to the first data",                    "cycles",                1, 1024),
    Setting("mem.external_width",         32, "width of external memory",                            "bytes a cycle",         4, 1024,               step=4),
    Setting("jitter.refresh_interval",   975, "from a refresh of a DRAM to the next one, in runs with --jitter", "cycles", 512, 1 << 20),
    Setting("jitter.refresh",             60, "time for which a refresh makes a DRAM busy",               "cycles",                0, 255),
    Setting("jitter.others_interval",    256, "time in which other requests make a DRAM busy once",       "cycles",              128, 1 << 20),
    Setting("jitter.others",              16, "longest time for which other requests make a DRAM busy; the seed decides how long", "cycles",        0, 63),
    Setting("lower.preferred.spmv",  "input", "mapping of a matrix-vector product if its cost is near the best (seed 000 ¶177)", choices=MAPPINGS),
    Setting("lower.preferred.conv2d", "input", "mapping of a convolution if its cost is near the best (seed 000 ¶141)", choices=MAPPINGS),
    Setting("lower.preferred.depthwise", "weight", "mapping of a depthwise convolution if its cost is near the best (seed 000 ¶141)", choices=MAPPINGS),
    Setting("lower.preferred.spmm",  "input", "mapping of a matrix product if its cost is near the best (seed 000 ¶177)",        choices=MAPPINGS),
)
# fmt: on

MOST_MISTAKES = 20  # of a configuration, in the message of an error
_PRESETS = Path(__file__).parent / "presets"
_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}")
_TYPES = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}


class ConfigError(MacawError, ValueError):
    """The error for a configuration that has one or more mistakes.

    The message has a line for each mistake, with setting, value and legal range. It shows at most
    `MOST_MISTAKES` mistakes; if there are more, a last line has the number of the others.
    """

    def __init__(self, *mistakes: str) -> None:
        self.mistakes = mistakes
        lines, left = mistakes[:MOST_MISTAKES], len(mistakes) - MOST_MISTAKES
        more = [f"and {left} more"] if left > 0 else []
        super().__init__("\n".join([*lines, *more]))


class Configuration(Mapping[str, Any]):
    """The values of a device's settings, by dotted name: `config["pe.clusters"]`. Immutable."""

    def __init__(self, name: str, values: Mapping[str, Value]) -> None:
        """Create the configuration of device `name`; `values` are settings by name.

        Settings that are not in `values` have their defaults. Raises `ConfigError`.
        """
        if not isinstance(name, str):
            raise ConfigError(f"name: {_text(name)} is not a word")
        if not isinstance(values, Mapping) or not all(isinstance(field, str) for field in values):
            raise ConfigError("a configuration is made of a name and the values of fields by name")
        values = {field: _python_value(value) for field, value in values.items()}
        mistakes = []
        if not _NAME.fullmatch(name):
            mistakes.append(f"name: {_text(name)} is not letters, digits and . _ + -, 64 at most")
        if found := _mistakes(values):
            raise ConfigError(*mistakes, *found)
        self._name = name
        self._values = MappingProxyType(
            {field: values.get(field, setting.default) for field, setting in settings().items()}
        )
        agreements = (each for core in registry.all_descriptors() for each in core.agreements)
        mistakes += (wrong for agreement in agreements if (wrong := agreement(self._values)))
        if mistakes:
            raise ConfigError(*mistakes)

    @property
    def name(self) -> str:
        """The device's name."""
        return self._name

    def __getitem__(self, field: str) -> Any:
        return self._values[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Configuration):
            return NotImplemented
        return self.name == other.name and self._values == other._values

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, tuple(self._values.items())))

    def __repr__(self) -> str:
        return f"<configuration {self.name}>"

    def __reduce__(self) -> tuple[type[Configuration], tuple[str, dict[str, Any]]]:
        return Configuration, (self.name, dict(self._values))  # how pickle makes a copy

    def changed(self, values: Mapping[str, Value]) -> Configuration:
        """Return a copy in which the settings in `values` have new values. Raises `ConfigError`."""
        if not isinstance(values, Mapping):
            raise ConfigError("a configuration is changed by the values of fields by name")
        return Configuration(self.name, {**self._values, **values})

    def to_toml(self, comments: bool = True) -> str:
        """Return the whole configuration as TOML.

        With `comments`, each setting has its meaning, unit and range as a comment. Object files
        contain the TOML without comments, so that a change of wording does not change their bytes.
        """
        lines = [f"name = {shown(self.name)}"]
        table = ""
        for field, setting in settings().items():
            head, _, key = field.rpartition(".")
            if head != table:
                lines += ["", f"[{head}]"]
                table = head
            line = f"{key} = {shown(self[field])}"
            lines.append(f"{line:<31} # {describe(setting)}" if comments else line)
        text = "\n".join(lines) + "\n"
        if not comments:
            _WRITTEN[text] = self
        return text


# Configurations by the text that `to_toml` made of them. A run in the process that assembled the
# program asks for the configuration of such a text, and need not parse it.
_WRITTEN: WeakValueDictionary[str, Configuration] = WeakValueDictionary()


@cache
def settings() -> Mapping[str, Setting]:
    """Return all settings by name, in the order of the TOML tables."""
    of_cores = (row for core in registry.all_descriptors() for row in core.settings)
    rows = [*COMMON, *trace.SETTINGS, *of_cores]
    tables = {row.name.rpartition(".")[0]: None for row in rows}
    ordered = {
        row.name: row for table in tables for row in rows if row.name.rpartition(".")[0] == table
    }
    if len(ordered) != len(rows):
        raise ConfigError("two tables declare the same setting")
    return MappingProxyType(ordered)


@cache
def _tables() -> frozenset[str]:
    """Return the names of the TOML tables that contain settings, such as `pe` for `pe.clusters`."""
    parts = (name.split(".") for name in settings())
    return frozenset(".".join(words[:end]) for words in parts for end in range(1, len(words)))


def describe(setting: Setting) -> str:
    """Return the meaning, unit and legal range of a setting in one line."""
    what = f" [{setting.unit}]" if setting.unit else ""
    return f"{setting.meaning}{what}; {legal(setting)}"


@lru_cache(maxsize=None, typed=True)  # 1, 1.0 and True are equal, but not all legal
def check_field(field: str, value: Value) -> None:
    """Raise `ConfigError` unless `field` is the name of a setting and `value` is legal for it."""
    rows = settings()
    if field not in rows:
        raise ConfigError(f"{_shown(field)}: no such field{_near(field, rows)}")
    _check(rows[field], value)


def _mistakes(values: Mapping[str, Value]) -> list[str]:
    """Return an error message for each wrong name or value in `values`, in the order of `values`."""
    rows = settings()
    found: list[str] = []
    for field, value in values.items():
        try:
            if field not in rows:
                raise ConfigError(f"{_shown(field)}: no such field{_near(field, rows)}")
            _check(rows[field], value)
        except ConfigError as error:
            found += error.mistakes
    return found


def presets() -> tuple[str, ...]:
    """Return the names of the devices that come with Macaw."""
    names = (file.name for file in _PRESETS.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def preset_summary(name: str) -> str:
    """Return the description of the preset `name`: the first sentence of its file."""
    lines = (_PRESETS / f"{name}.toml").read_text("utf-8").splitlines()
    comment = " ".join(line.removeprefix("# ") for line in takewhile(_is_comment, lines))
    return comment.split(". ")[0].removesuffix(".") + "."


def _is_comment(line: str) -> bool:
    return line.startswith("#")


def load(name_or_path: str | Path) -> Configuration:
    """Return the configuration of a preset or of a TOML file. Raises `ConfigError`."""
    text = str(name_or_path)
    if text in presets():
        return parse((_PRESETS / f"{text}.toml").read_text("utf-8"), text)
    path = Path(text)
    if not text.endswith(".toml") and not _is_file(path):
        near = _near(text, presets())
        raise ConfigError(
            f"no device is called '{_cut(text)}', there are {', '.join(presets())}"
            f" and any TOML file with settings{near}"
        )
    try:
        data = reading.read(path, reading.MOST_TEXT)
    except reading.UnreadableError as error:
        raise ConfigError(f"{text}: cannot be read: {error}") from None
    try:
        # Some editors write a byte order mark at the start of a text.
        return parse(reading.decode(data), re.sub(r"[^A-Za-z0-9_.+-]", "_", path.stem) or "device")
    except UnicodeDecodeError:
        raise ConfigError(f"{text}: is not UTF-8 text") from None
    except ConfigError as error:
        raise ConfigError(*(f"{text}: {mistake}" for mistake in error.mistakes)) from None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # the text cannot be the name of a file
        return False


@lru_cache(maxsize=64)  # each session and run of a program asks for its device
def parse(text: str, name: str = "device") -> Configuration:
    """Return the configuration in the TOML text. Raises `ConfigError`.

    The argument `name` is the device's name, unless the text contains a `name`.
    """
    written = _WRITTEN.get(text)
    if written is not None:
        return written
    try:
        tree = tomllib.loads(text)
    except ValueError as error:
        message = str(error)  # it ends with line and column
        message = message if len(message) <= 200 else f"{message[:120]}...{message[-60:]}"
        raise ConfigError(f"is not TOML: {message}") from None
    except RecursionError:
        raise ConfigError("is not TOML: nested too deeply") from None
    problem = version_problem(tree.pop("format", 1), FORMAT, "`macaw device`")
    if problem:
        raise ConfigError(f"{problem[0]}; {problem[1]}")
    own = tree.pop("name", name)
    mistakes: list[str] = []
    if not isinstance(own, str):
        mistakes.append(f"name: {_text(own)} is not a word")
        own = "device"  # so that the other mistakes are found, too
    try:
        values = dict(_flat(tree, "", mistakes))
    except RecursionError:  # dotted keys may nest deeply, too
        raise ConfigError("is not TOML: nested too deeply") from None
    try:
        made = Configuration(own, values)
    except ConfigError as error:
        raise ConfigError(*mistakes, *error.mistakes) from None
    if mistakes:
        raise ConfigError(*mistakes)
    return made


def _flat(tree: Mapping[str, Any], prefix: str, mistakes: list[str]) -> Iterator[tuple[str, Value]]:
    """Yield (dotted name, value) for the values in the nested tables of `tree`.

    `prefix` is the part of the dotted names that leads to `tree`. If there is a value where only a
    table may be, the function adds an error message to `mistakes`.
    """
    rows = settings()
    for key, value in tree.items():
        field = prefix + key
        inside = field in _tables()
        if isinstance(value, dict) and field not in rows and (value or inside):
            yield from _flat(value, f"{field}.", mistakes)
        elif inside:
            mistakes.append(f"{_shown(field)}: {_text(value)} is not a table of fields")
        else:
            yield field, value


def _python_value(value: Any) -> Any:
    """Return the object of Python for a number, string, True or False of NumPy, for example.

    Other values are returned unchanged.
    """
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else value


def _check(setting: Setting, value: object) -> None:
    """Raise `ConfigError` unless `value` has the setting's type and is in its range."""
    kind = type(setting.default)
    if kind is float and type(value) is int:
        return _check(setting, float(value)) if abs(value) < 1 << 1000 else _refuse(setting, value)
    if type(value) is not kind:
        raise ConfigError(f"{setting.name}: {_text(value)} is not {_TYPES[kind]}; {legal(setting)}")
    if isinstance(value, str) and setting.several:
        _check_words(setting, value.split(" ") if value else ())
    elif isinstance(value, str):
        if value not in setting.choices:
            raise ConfigError(
                f"{setting.name}: {_text(value)} is not {legal(setting)}"
                f"{_near(value, setting.choices)}"
            )
    elif isinstance(value, int | float) and kind is not bool:
        low = -math.inf if setting.low is None else setting.low
        high = math.inf if setting.high is None else setting.high
        uneven = kind is int and value % setting.step
        if not low <= value <= high or not math.isfinite(value) or uneven:
            _refuse(setting, value)
    return None


def _check_words(setting: Setting, words: Sequence[str]) -> None:
    """Raise `ConfigError` unless each word is one of the setting's choices and occurs only once."""
    for place, word in enumerate(words):
        if word in words[:place]:
            raise ConfigError(f"{setting.name}: {_text(word)} occurs twice")
        if word not in setting.choices:
            raise ConfigError(
                f"{setting.name}: {_text(word)} is not one of {', '.join(setting.choices)}"
                f"{_near(word, setting.choices)}"
            )


def _refuse(setting: Setting, value: object) -> None:
    raise ConfigError(f"{setting.name}: {_text(value)} is out of range, {legal(setting)}")


def legal(setting: Setting) -> str:
    """Return the legal values of a setting, in words."""
    if setting.several:
        return "words, with blanks between, of " + ", ".join(setting.choices)
    if setting.choices:
        return "one of " + ", ".join(setting.choices)
    if isinstance(setting.default, bool):
        return "true or false"
    text = f"{_bound(setting.low)} to {_bound(setting.high)}"
    return text if setting.step == 1 else f"{text}, a multiple of {setting.step}"


def _bound(number: float | None) -> str:
    return "any" if number is None else f"{number:g}" if isinstance(number, float) else str(number)


def shown(value: Value) -> str:
    """Return a value in TOML syntax."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _text(value: object) -> str:
    """Return a value as text for an error message, cut off if it is long."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 1 << 64:
        return "a number of more than 64 bits"
    return _cut(repr(value) if isinstance(value, str) else str(value))


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _shown(field: str) -> str:
    text = field if re.fullmatch(r"[\w.-]+", field) else repr(field)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _near(word: str, words: Iterable[str]) -> str:
    near = get_close_matches(word[:80], list(words), 1)
    return f"; did you mean '{near[0]}'?" if near else ""
