"""Where to look: `vc`, `pe[1]`, `pe[1,0].3`, and sets of places, `pe[*,0].*`.

A core's table says what it has several of (`macaw.isa.model.Core.levels`); how many there are
stands in the shape of its state.
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
    """A place that the device does not have; the message is fit for a user."""


@dataclass(frozen=True)
class Place:
    """A core, or a unit in it: of pe `(cluster,)` or `(cluster, pe)`."""

    core: str
    units: tuple[int, ...] = ()

    def __str__(self) -> str:
        """As it is written: `pe[1,0].3`."""
        kind, index = self.kind
        return _written(kind, [str(one) for one in (*index, *self.units)], len(index))

    @property
    def kind(self) -> tuple[str, tuple[int, ...]]:
        """The name of the kind of core, and its index if there are several."""
        head, bracket, index = self.core.partition("[")
        return head, (int(index[:-1]),) if bracket else ()


def _written(kind: str, indices: Sequence[str], own: int) -> str:
    """Indices behind the name of a kind; the first `own` are of the core itself."""
    inside, behind = indices[: own + 1], indices[own + 1 :]
    return kind + (f"[{','.join(inside)}]" if inside else "") + "".join(f".{x}" for x in behind)


def kinds(device: Device) -> Mapping[str, Mapping[int | None, Core]]:
    """The cores by the name of their kind, then by index; None: there is only one."""
    found: dict[str, dict[int | None, Core]] = {}
    for name, core in device.cores.items():
        kind, index = Place(name).kind
        found.setdefault(kind, {})[index[0] if index else None] = core
    return found


def counts(core: Core) -> tuple[int, ...]:
    """How many of each of its units a core has: of a row (clusters, pes)."""
    deepest: tuple[int, ...] = ()
    for row in core.state.fields:
        if row.name in {file.name for file in core.table.files} and len(row.shape) > len(deepest):
            deepest = row.shape
    return deepest[: len(core.table.levels)]


_ONE = r"\d+\.\.\d+|\d+|\*"
_PLACE = re.compile(rf"\s*([A-Za-z_]\w*)\s*(?:\[([^\]]*)\])?((?:\.(?:{_ONE}))*)\s*")
_LEVEL = re.compile(r"\.([A-Za-z]\w*)\[([^\]]*)\]")  # `fim[0].bank[3]`
_BETWEEN = re.compile(r",(?![^\[]*\])")  # a comma that stands in no brackets


def places(device: Device, text: str) -> tuple[Place, ...]:
    """The places that a text means, each once, in its order. Raises `PlaceError`.

    Behind a comma stand more; an index is a number, some (`0..3`) or all (`*`).
    """
    found = (place for part in _BETWEEN.split(text) for place in _places(device, part))
    return tuple(dict.fromkeys(found))


def _places(device: Device, text: str) -> list[Place]:
    match = _PLACE.fullmatch(_LEVEL.sub(lambda found: _unnamed(device, text, found), text))
    if match is None:
        raise PlaceError(f"'{text.strip()}' is no place; places are {', '.join(_examples(device))}")
    kind, inside, behind = match.groups()
    indices = [part.strip() for part in inside.split(",")] if inside is not None else []
    indices += re.findall(rf"\.({_ONE})", behind)
    return expand(device, kind, [_index(index, text) for index in indices], text)


def _unnamed(device: Device, text: str, level: re.Match[str]) -> str:
    """An index behind the name of its level, as the index alone."""
    cores = kinds(device).get(text.split("[")[0].strip(), {})
    levels = next(iter(cores.values())).table.levels if cores else ()
    return f".{level[2].strip()}" if level[1] in levels else level[0]


def _index(text: str, whole: str) -> range | None:
    """The numbers that an index means; None: all."""
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
    """The places of a kind of core with these indices; None stands for all."""
    known = kinds(device)
    if kind not in known:
        near = get_close_matches(kind, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise PlaceError(f"no core is called '{kind}', there are {', '.join(known)}{hint}")
    wanted = [range(one, one + 1) if isinstance(one, int) else one for one in indices]
    cores = known[kind]
    if None in cores:
        chosen = list(cores.values())
    else:
        first = wanted.pop(0) if wanted else None
        if first is not None and first[-1] not in cores:
            raise PlaceError(f"{text}: there is no {kind}[{first[-1]}], {_range(kind, len(cores))}")
        chosen = [core for at, core in cores.items() if first is None or at in first]
    found: list[Place] = []
    for core in chosen:
        limits = counts(core)
        if len(wanted) > len(limits):
            raise PlaceError(f"{text} goes deeper than {core.name} does")
        ranges = []
        for want, limit, unit in zip(wanted, limits, core.table.levels, strict=False):
            if want is not None and want[-1] >= limit:
                what = f"{unit} {want[-1]}"
                raise PlaceError(f"{text}: {core.name} has no {what}, {_range(unit, limit)}")
            ranges.append(range(limit) if want is None else want)
        found += [Place(core.name, units) for units in product(*ranges)]
    return found


def compact(device: Device, found: Iterable[Place]) -> str:
    """Places in few words, as `places` reads them: `cp, pe[0,0..2].*, pe[1,*].3`."""
    known = kinds(device)
    kept: dict[tuple[str, int, int], list[tuple[int, ...]]] = {}
    for place in found:
        kind, index = place.kind
        kept.setdefault((kind, len(index), len(place.units)), []).append((*index, *place.units))
    texts = []
    for (kind, own, _), items in kept.items():
        cores = known[kind]
        sizes = [len(cores)] * own + list(counts(next(iter(cores.values()))))
        for box in _boxes(items):
            runs = [_runs(axis, size) for axis, size in zip(box, sizes, strict=False)]
            texts += [_written(kind, indices, own) for indices in product(*runs)]
    return ", ".join(texts)


Box = tuple[tuple[int, ...], ...]  # of each axis the indices


def _boxes(items: Sequence[tuple[int, ...]]) -> list[Box]:
    """Sets of indices, one an axis, whose products are the items."""
    boxes: list[Box] = [tuple((index,) for index in item) for item in items]
    for axis in reversed(range(len(items[0]))):
        together: dict[tuple[Box, Box], set[int]] = {}
        for box in boxes:
            together.setdefault((box[:axis], box[axis + 1 :]), set()).update(box[axis])
        boxes = [(*a, tuple(sorted(some)), *b) for (a, b), some in together.items()]
    return boxes


def _runs(numbers: Sequence[int], size: int) -> list[str]:
    """Numbers in order as `*`, or runs of them."""
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
    found = []
    for kind, cores in kinds(device).items():
        core = next(iter(cores.values()))
        found.append(kind if None in cores else f"{kind}[0{',0' if core.table.levels else ''}]")
    return found
