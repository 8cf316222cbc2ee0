"""Tables of energies: the default one, and TOML files that replace or scale its numbers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files as package_files
from typing import Any

from macaw import files
from macaw.errors import InputError
from macaw.isa import registry
from macaw.isa.activities import ACTIVITIES, BY_NAME
from macaw.phrases import suggestion

MOST = 1e30  # a table has no larger numbers, so that their sums and products are finite
UNITS = {"fJ": 1e-3, "pJ": 1.0, "nJ": 1e3}  # picojoules
_KEYS = ("name", "unit", "scale", "activities", "static")
_ITEM_KEYS = ("energy", "scale", "source")
_HEADER = re.compile(r"\s*\[\s*([\w.]+)\s*\]")


@dataclass(frozen=True)
class Price:
    """The energy of one activity or of one cycle, with the source of the number."""

    picojoules: float
    source: str  # a publication, or the file of the table


@dataclass(frozen=True)
class EnergyTable:
    """The energy of each activity, and the static energy of a device cycle by kind of core."""

    name: str
    activities: Mapping[str, Price]  # by `macaw.isa.activities.ACTIVITIES`, all of them
    static: Mapping[str, Price] = field(default_factory=dict)  # by kind of core: "pe"


@cache
def default_table() -> EnergyTable:
    """Return the table of published figures for 45 nm."""
    text = package_files("macaw.profiling").joinpath("energies", "default.toml").read_text("utf-8")
    free = {row.name: Price(0.0, "") for row in ACTIVITIES}
    return parse_table(text, "the default table", EnergyTable("", free))


def load_table(path: str) -> EnergyTable:
    """Return the table in a TOML file; numbers that the file omits come from the default table.

    If `path` is empty, returns the default table. Raises `InputError` for a file that cannot be
    read or is no table.
    """
    if not path:
        return default_table()
    try:
        text = files.read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text") from None
    return parse_table(text, path)


def parse_table(text: str, source: str, base: EnergyTable | None = None) -> EnergyTable:
    """Return the table in a TOML text; activities that the text omits have the energies of `base`.

    Without `base` they have the energies of the default table. The key `scale` of the text
    multiplies the energies that come from `base`. The table has only the static energies of the
    text. Raises `InputError` for a wrong text. The message begins with `source`, the name of the
    file, and with the line if it is known.
    """
    try:
        tree = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: is not TOML: {str(error)[:200]}") from None
    return _Parser(tree, text, source).table(base or default_table())


class _Parser:
    """Checks the keys and values of one table."""

    def __init__(self, tree: Mapping[str, Any], text: str, source: str) -> None:
        self.tree, self.text, self.source = tree, text, source

    def table(self, base: EnergyTable) -> EnergyTable:
        """Return the table that the TOML text describes, with omitted numbers from `base`."""
        for key in self.tree:
            if key not in _KEYS:
                raise self.error((key,), "no such key", suggestion(key, _KEYS))
        name = self.tree.get("name", self.source)
        if not isinstance(name, str) or not name.isprintable():
            raise self.error(("name",), f"{name!r:.40} is not a text")
        self.check_unit()
        scale = self.number(("scale",), self.tree.get("scale", 1.0))
        activities = {
            key: Price(price.picojoules * scale, self.scaled(price.source, scale))
            for key, price in base.activities.items()
        }
        for path, item in self.items("activities", tuple(BY_NAME), "activity"):
            activities[path[1]] = self.price(path, item, base.activities[path[1]])
        static = {
            path[1]: self.price(path, item, None)
            for path, item in self.items("static", registry.names(), "kind of core")
        }
        return EnergyTable(name, activities, static)

    def items(
        self, section: str, names: tuple[str, ...], what: str
    ) -> Iterator[tuple[tuple[str, str], Any]]:
        """Yield the path (section, key) and the value of each item of a section.

        Raises `InputError` for keys that are not in `names`. Its message calls a key `what`.
        """
        found = self.tree.get(section, {})
        if not isinstance(found, dict):
            raise self.error((section,), "is not a table")
        for key, item in found.items():
            if key not in names:
                raise self.error((section, key), f"no such {what}", suggestion(key, names))
            yield (section, key), item

    def price(self, path: tuple[str, str], item: Any, base: Price | None) -> Price:
        """Return the price (an energy with its source) that an item of the TOML table gives.

        `path` is the key of the item, `item` its value: a number, or a table with keys of
        `_ITEM_KEYS`. Instead of an energy, this table may have the key `scale`, a factor for the
        price `base`. Raises `InputError` for a wrong item.
        """
        if not isinstance(item, dict):
            item = {"energy": item}
        for key in item:
            if key not in _ITEM_KEYS:
                raise self.error((*path, key), "no such key", suggestion(key, _ITEM_KEYS))
        source = item.get("source", self.source)
        if not isinstance(source, str) or not source.isprintable():
            raise self.error((*path, "source"), f"{source!r:.40} is not a text")
        if ("energy" in item) == ("scale" in item):
            raise self.error(path, "has to have either energy or scale")
        if "energy" in item:
            energy = self.number((*path, "energy"), item["energy"])
            return Price(energy * self.unit(path), source)
        if base is None:
            raise self.error((*path, "scale"), "there is no default to scale: give energy")
        scale = self.number((*path, "scale"), item["scale"])
        return Price(base.picojoules * scale, self.scaled(item.get("source", base.source), scale))

    def scaled(self, source: str, scale: float) -> str:
        """Return `source` with a note that this table multiplied the number by `scale`."""
        return source if scale == 1 else f"{source}; times {scale:g} ({self.source})"

    def check_unit(self) -> None:
        """Raise `InputError` if the table has an unknown unit."""
        unit = self.tree.get("unit")
        if "unit" in self.tree and (not isinstance(unit, str) or unit not in UNITS):
            raise self.error(("unit",), f"{unit!r:.40} is not one of {', '.join(UNITS)}")

    def unit(self, path: tuple[str, ...]) -> float:
        """Return how many picojoules one unit of the table's numbers is: 1000 for `unit = "nJ"`.

        Raises `InputError` if the table has no unit. `path` is the key of the number for which the
        unit is needed, for the message.
        """
        if "unit" not in self.tree:
            raise self.error(
                path, "a number without a unit", f'unit = "pJ" at the top: {", ".join(UNITS)}'
            )
        return UNITS[self.tree["unit"]]

    def number(self, path: tuple[str, ...], value: Any) -> float:
        """Return `value`, the value of the key `path`, as a float.

        Raises `InputError` if it is no number, less than 0, or more than `MOST`.
        """
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= MOST:  # as NaN is not, either
            raise self.error(path, f"{value!r:.40} is not a number from 0 to {MOST:g}")
        return float(value)

    def error(self, path: tuple[str, ...], what: str, hint: str = "") -> InputError:
        """Return the error for the key `path`: file, line if known, dotted key, and `what`."""
        line = _line_of(self.text, path)
        place = f"{self.source}:{line}" if line else self.source
        dotted = re.sub(r"[^\w.-]", "?", ".".join(path))[:80]
        return InputError(f"{place}: {dotted}: {what}", hint)


def _line_of(text: str, path: tuple[str, ...]) -> int:
    """Return the number of the line with the key `path`.

    If the key has no line of its own, the result is the line of the item or section that contains
    the key. It is 0 if that has no line either.
    """
    for end in range(len(path), 0, -1):
        section, line_of_section = "", 0
        for number, line in enumerate(text.splitlines(), 1):
            if header := _HEADER.match(line):
                section, line_of_section = header[1], number
                if section == ".".join(path[:end]):
                    return line_of_section
                continue
            key = line.partition("=")[0].replace('"', "").replace(" ", "").replace("\t", "")
            dotted = f"{section}.{key}" if section else key
            if "=" in line and dotted == ".".join(path[:end]):
                return number
    return 0
