"""Places: cores (`vc`), their units (`pe[1,0].3`) and sets of them (`pe[*,0].*`).

A core's table names its levels of units (`macaw.isa.model.Core.levels`). The shape of its state
says how many units there are at each level.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device


class PlaceError(ValueError):
    """Raised for a place that the device does not have; the message is for the user."""


@dataclass(frozen=True)
class Place:
    """A core, or a unit of a core.

    `units` has one index for each level of units down to the unit; it is empty for a core. For pe
    these are (cluster,) or (cluster, PE).
    """

    core: str
    units: tuple[int, ...] = ()

    def __str__(self) -> str:
        """Return the place as a user writes it: `pe[1,0].3`."""
        kind, index = self.kind
        return _text(kind, [str(one) for one in (*index, *self.units)], len(index))

    @property
    def kind(self) -> tuple[str, tuple[int, ...]]:
        """The name of the kind of core, and the core's index if there are several of the kind."""
        head, bracket, index = self.core.partition("[")
        return head, (int(index[:-1]),) if bracket else ()


def _text(kind: str, indices: Sequence[str], own: int) -> str:
    """Return the text of a place, such as `pe[1,0].3`, from the kind and the indices 1, 0, 3.

    The first `own` indices select the core of the kind: here `own` is 1.
    """
    inside, behind = indices[: own + 1], indices[own + 1 :]
    return kind + (f"[{','.join(inside)}]" if inside else "") + "".join(f".{x}" for x in behind)


def kinds(device: Device) -> Mapping[str, Mapping[int | None, Core]]:
    """Return the cores of a device: {name of the kind: {index: core}}.

    The index is None if the kind has only one core.
    """
    by_kind: dict[str, dict[int | None, Core]] = {}
    for name, core in device.cores.items():
        kind, index = Place(name).kind
        by_kind.setdefault(kind, {})[index[0] if index else None] = core
    return by_kind


def counts(core: Core) -> tuple[int, ...]:
    """Return the number of units that a core has at each level; for pe (clusters, PEs)."""
    deepest: tuple[int, ...] = ()
    files = {file.name for file in core.table.files}
    for row in core.state.fields:
        if row.name in files and len(row.shape) > len(deepest):
            deepest = row.shape
    return deepest[: len(core.table.levels)]


_ONE = r"\d+\.\.\d+|\d+|\*"
_PLACE = re.compile(rf"\s*([A-Za-z_]\w*)\s*(?:\[([^\]]*)\])?((?:\.(?:{_ONE}))*)\s*")
_LEVEL = re.compile(r"\.([A-Za-z]\w*)\[([^\]]*)\]")  # such as `fim[0].bank[3]`
_BETWEEN = re.compile(r",(?![^\[]*\])")  # a comma outside of brackets


def places(device: Device, text: str) -> tuple[Place, ...]:
    """Return the places that a text denotes, in the order of the text, without repetition.

    Commas separate places. An index is a number, a range (`0..3`) or `*` for all. Raises
    `PlaceError`.
    """
    all_places = (place for part in _BETWEEN.split(text) for place in _places(device, part))
    return tuple(dict.fromkeys(all_places))


def _places(device: Device, text: str) -> list[Place]:
    match = _PLACE.fullmatch(_LEVEL.sub(lambda level: _level_index(device, text, level), text))
    if match is None:
        raise PlaceError(f"'{text.strip()}' is no place; places are {', '.join(_examples(device))}")
    kind, inside, behind = match.groups()
    indices = [part.strip() for part in inside.split(",")] if inside is not None else []
    indices += re.findall(rf"\.({_ONE})", behind)
    return expand(device, kind, [_index(index, text) for index in indices], text)


def _level_index(device: Device, text: str, level: re.Match[str]) -> str:
    """Return the text of `.bank[3]` as `.3` if the core before it has a level of that name.

    For any other `level`, return its text unchanged.
    """
    cores = kinds(device).get(text.split("[")[0].strip(), {})
    levels = next(iter(cores.values())).table.levels if cores else ()
    return f".{level[2].strip()}" if level[1] in levels else level[0]


def _index(text: str, whole: str) -> range | None:
    """Return the range of numbers that the index `text` denotes, or None for `*`.

    Messages show `whole`. Raises `PlaceError`.
    """
    if text == "*":
        return None
    first, several, last = text.partition("..")
    if not first.isdecimal() or (several and not last.isdecimal()):
        raise PlaceError(f"'{text}' in {whole} is neither a number nor *")
    if several and int(last) < int(first):
        raise PlaceError(f"'{text}' in {whole} ends before it begins")
    return range(int(first), int(last if several else first) + 1)


def expand(
    device: Device, kind: str, indices: Iterable[int | range | None], text: str
) -> list[Place]:
    """Return the places of a kind of core with these indices; None means all indices.

    If the device has several cores of the kind, the first index selects the cores. The other
    indices select units, one level after the other; without them, the places are whole cores.
    `text` is the user's text, for messages. Raises `PlaceError`.
    """
    by_kind = kinds(device)
    if kind not in by_kind:
        near = get_close_matches(kind, by_kind, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise PlaceError(f"no core is called '{kind}', there are {', '.join(by_kind)}{hint}")
    requests = [range(one, one + 1) if isinstance(one, int) else one for one in indices]
    cores = by_kind[kind]
    if None in cores:
        chosen = list(cores.values())
    else:
        first = requests.pop(0) if requests else None
        if first is not None and first[-1] not in cores:
            raise PlaceError(f"{text}: there is no {kind}[{first[-1]}], {_range(kind, len(cores))}")
        chosen = [core for at, core in cores.items() if first is None or at in first]
    where: list[Place] = []
    for core in chosen:
        limits = counts(core)
        if len(requests) > len(limits):
            raise PlaceError(f"{text} goes deeper than {core.name} does")
        ranges = []
        for want, limit, unit in zip(requests, limits, core.table.levels, strict=False):
            if want is not None and want[-1] >= limit:
                what = f"{unit} {want[-1]}"
                raise PlaceError(f"{text}: {core.name} has no {what}, {_range(unit, limit)}")
            ranges.append(range(limit) if want is None else want)
        where += [Place(core.name, units) for units in product(*ranges)]
    return where


def compact(device: Device, where: Iterable[Place]) -> str:
    """Return a short text for places, such as `pe[0,0..2].*, cp`, which `places` can parse again.

    Ranges and `*` in the text stand for several indices.
    """
    by_kind = kinds(device)
    groups: dict[tuple[str, int, int], list[tuple[int, ...]]] = {}
    for place in where:
        kind, index = place.kind
        groups.setdefault((kind, len(index), len(place.units)), []).append((*index, *place.units))
    texts = []
    for (kind, own, _), items in groups.items():
        cores = by_kind[kind]
        sizes = [len(cores)] * own + list(counts(next(iter(cores.values()))))
        for product_sets in _products(items):
            runs = [_runs(axis, size) for axis, size in zip(product_sets, sizes, strict=False)]
            texts += [_text(kind, indices, own) for indices in product(*runs)]
    return ", ".join(texts)


IndexSets = tuple[tuple[int, ...], ...]  # the set of indices on each axis


def _products(items: Sequence[tuple[int, ...]]) -> list[IndexSets]:
    """Return the tuples `items` as few products of index sets, such as (0, 1) x (2, 3).

    This product stands for the tuples (0, 2), (0, 3), (1, 2) and (1, 3). A product has one set for
    each position in a tuple. Together the products contain exactly `items`.
    """
    products: list[IndexSets] = [tuple((index,) for index in item) for item in items]
    for axis in reversed(range(len(items[0]))):
        together: dict[tuple[IndexSets, IndexSets], set[int]] = {}
        for product_sets in products:
            together.setdefault((product_sets[:axis], product_sets[axis + 1 :]), set()).update(
                product_sets[axis]
            )
        products = [(*a, tuple(sorted(some)), *b) for (a, b), some in together.items()]
    return products


def _runs(numbers: Sequence[int], size: int) -> list[str]:
    """Return sorted numbers as ranges (`0..2`, `5`), or as `*` for all of `size` numbers."""
    if len(numbers) == size > 1:
        return ["*"]
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] + 1 == number:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [str(a) if a == b else f"{a}..{b}" for a, b in runs]


def _range(what: str, count: int) -> str:
    return f"only {what} 0" if count == 1 else f"{what}s are 0 to {count - 1}"


def _examples(device: Device) -> list[str]:
    examples = []
    for kind, cores in kinds(device).items():
        core = next(iter(cores.values()))
        examples.append(kind if None in cores else f"{kind}[0{',0' if core.table.levels else ''}]")
    return examples
