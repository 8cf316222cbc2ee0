"""Compares two runs for a panel: their present positions, registers and queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.commands.text import stop_lines, value_text, where_text
from macaw.debugger.frame import Against, Side, visible
from macaw.debugger.instruction_texts import InstructionTexts
from macaw.debugger.places import Place
from macaw.debugger.register_numbers import as_numbers
from macaw.debugger.state_paths import Members, count_items
from macaw.debugger.values import AccessError
from macaw.emu.copies import original

if TYPE_CHECKING:
    from macaw.debugger.commands.context import OtherRun
    from macaw.debugger.session import Session

NO_OTHER = "there is no other run: macaw debug FILE --against FILE starts two"


def both_runs(session: Session, other: OtherRun | None) -> Against:
    """Return the positions of two runs, and the registers and queues in which the runs differ.

    The registers and queues are those of one core or unit: the first one that the user has chosen
    in `session` (its focus). If `other` is None, the result has only a message.
    """
    if other is None:
        return Against(message=NO_OTHER)
    runs = session, other.session
    place = session.focus[0]
    one, two = (_values(run, place) for run in runs)
    names = dict.fromkeys((*one, *two))
    differing = [name for name in names if one.get(name) != two.get(name)]
    rows = [
        Side("cycle", *(f"{run.device.cycle:,}" for run in runs)),
        *(Side(name, one.get(name, "-"), two.get(name, "-")) for name in differing),
        Side("at", *(_position(run, place) for run in runs)),
        Side("instruction", *(_instruction(run, place) for run in runs)),
        Side("stop", *(visible(next(stop_lines(run.last_stop))) for run in runs)),
    ]
    equal = len(names) - len(differing)
    summary = f"{equal} registers and queues of {place} are equal" if names else ""
    return Against((other.this_name, other.name), tuple(rows), summary)


def _position(run: Session, place: Place) -> str:
    core = run.device.cores.get(place.core)
    if core is None:
        return "-"
    where = run.where(core)
    return (
        where_text(where).removeprefix(f"{core.name} at ") if where.address is not None else "idle"
    )


def _instruction(run: Session, place: Place) -> str:
    core = run.device.cores.get(place.core)
    address = core.next_address if core is not None and core.running else None
    if core is None or address is None:
        return "-"
    return visible(InstructionTexts(run.program).at(original(run.program, core, address)) or "-")


def _values(run: Session, place: Place) -> dict[str, str]:
    """Return the registers and queue levels of a place by name, as texts.

    The result is empty if the device does not have the place.
    """
    if place.core not in run.device.cores:
        return {}
    members = Members(run.device, place)
    values: dict[str, str] = {}
    for file in members.table.files:
        for names in file.names:
            value = _read(members, names[0])
            if value is not None:
                values |= {name: _text(x) for name, x in as_numbers(members, names[0], value)}
    for queue in members.table.queues:
        level = _read(members, queue.name, "level")
        if level is not None:
            values[f"{queue.name}.level"] = str(count_items(level))
    return values


def _read(members: Members, *path: str) -> Any:
    """Return the value of a member of a place; None if the place does not have it."""
    try:
        return members.find(path).read()
    except (AccessError, IndexError):
        return None


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return " ".join(value_text(x) for x in value.reshape(-1).tolist())
    return value_text(value.item() if isinstance(value, np.generic) else value)
