"""Where to look: `vc`, `pe[1]`, `pe[1,0].3`, and sets of places, `pe[*,0].*`.

A core's table says what it has several of (`isa.model.Core.levels`); how many there are stands
in the shape of its state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emu.core import Core
    from emu.device import Device


class PlaceError(ValueError):
    """A place that the device does not have; the message is fit for a user."""


@dataclass(frozen=True)
class Place:
    """A core, or a unit in it: of pe `(cluster,)` or `(cluster, pe)`."""

    core: str
    units: tuple[int, ...] = ()

    def __str__(self) -> str:
        """As it is written: `pe[1,0].3`."""
        if not self.units:
            return self.core
        head, bracket, index = self.core.partition("[")
        first = [index.rstrip("]"), str(self.units[0])] if bracket else [str(self.units[0])]
        return f"{head}[{','.join(first)}]" + "".join(f".{unit}" for unit in self.units[1:])


def kinds(device: Device) -> Mapping[str, Mapping[int | None, Core]]:
    """The cores by the name of their kind, then by index; None: there is only one."""
    found: dict[str, dict[int | None, Core]] = {}
    for name, core in device.cores.items():
        kind, bracket, index = name.partition("[")
        found.setdefault(kind, {})[int(index[:-1]) if bracket else None] = core
    return found


def counts(core: Core) -> tuple[int, ...]:
    """How many of each of its units a core has: of a row (clusters, pes)."""
    deepest: tuple[int, ...] = ()
    for row in core.state.fields:
        if row.name in {file.name for file in core.table.files} and len(row.shape) > len(deepest):
            deepest = row.shape
    return deepest[: len(core.table.levels)]


_PLACE = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\[([^\]]*)\])?((?:\.(?:\d+|\*))*)\s*")


def places(device: Device, text: str) -> tuple[Place, ...]:
    """The places that a text means, in the order of cores. Raises `PlaceError`."""
    match = _PLACE.fullmatch(text)
    if match is None:
        raise PlaceError(f"'{text}' is no place; places are {', '.join(_examples(device))}")
    kind, inside, behind = match.groups()
    indices = [part.strip() for part in inside.split(",")] if inside is not None else []
    indices += behind.split(".")[1:]
    for index in indices:
        if index != "*" and not index.isdecimal():
            raise PlaceError(f"'{index}' in {text} is neither a number nor *")
    return tuple(expand(device, kind, [None if x == "*" else int(x) for x in indices], text))


def expand(device: Device, kind: str, indices: Iterable[int | None], text: str) -> list[Place]:
    """The places of a kind of core with these indices; None stands for all."""
    known = kinds(device)
    if kind not in known:
        near = get_close_matches(kind, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise PlaceError(f"no core is called '{kind}', there are {', '.join(known)}{hint}")
    wanted = list(indices)
    cores = known[kind]
    if None in cores:
        chosen = list(cores.values())
    else:
        first = wanted.pop(0) if wanted else None
        if first is not None and first not in cores:
            raise PlaceError(f"{text}: there is no {kind}[{first}], {_range(kind, len(cores))}")
        chosen = [core for index, core in cores.items() if first in (None, index)]
    found: list[Place] = []
    for core in chosen:
        limits = counts(core)
        if len(wanted) > len(limits):
            raise PlaceError(f"{text} goes deeper than {core.name} does")
        ranges = []
        for want, limit, unit in zip(wanted, limits, core.table.levels, strict=False):
            if want is not None and want >= limit:
                raise PlaceError(f"{text}: {core.name} has no {unit} {want}, {_range(unit, limit)}")
            ranges.append(range(limit) if want is None else (want,))
        found += [Place(core.name, units) for units in product(*ranges)]
    return found


def _range(what: str, count: int) -> str:
    return f"only {what} 0" if count == 1 else f"{what}s are 0 to {count - 1}"


def _examples(device: Device) -> list[str]:
    found = []
    for kind, cores in kinds(device).items():
        core = next(iter(cores.values()))
        found.append(kind if None in cores else f"{kind}[0{',0' if core.table.levels else ''}]")
    return found
