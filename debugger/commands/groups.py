"""The command `info groups`: groups units by the instruction at which they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.code import instructions
from macaw.debugger.commands.line import CommandError
from macaw.debugger.places import Place, compact, places
from macaw.debugger.stops import Where
from macaw.emu.inspection import Stall

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context
    from macaw.debugger.session import Session
    from macaw.emu.core import Core

IDLE = "idle"
WAITS = "waits for "


@dataclass
class Group:
    """Units that are at the same instruction and in the same state.

    `at` is the mnemonic of the instruction, or its address if it cannot be decoded. If the units
    are at no instruction, `at` is the state. `where` is the place of the first unit.
    """

    at: str
    state: str  # "idle", "runs", "waits for ..."
    where: Where | None = None
    units: list[Place] = field(default_factory=list)

    @property
    def short(self) -> str:
        """The mnemonic of the instruction, with a mark if the units wait."""
        return f"{self.at}(waits)" if self.state.startswith(WAITS) else self.at


def groups_table(context: Context, text: str | None) -> Answer:
    """Return the table of `info groups`: units with the same instruction and state are one row.

    `text` names places whose units the table has. Without it, the table has the units of the focus,
    or of all cores if the focus is a core without units.
    """
    session = context.session
    members = groups(session, units(session, places(session.device, text) if text else None))
    rows = [
        (
            len(group.units),
            group.at,
            group.state,
            group.where and group.where.symbol,
            f"{group.where.file}:{group.where.line}" if group.where and group.where.file else None,
            compact(session.device, group.units),
        )
        for group in members
    ]
    counts: Counter[str] = Counter()
    for group in members:
        counts[group.short] += len(group.units)
    title = " ".join(f"{count}@{name}" for name, count in counts.most_common())
    columns = ("units", "at", "state", "symbol", "source", "which")
    return answers.table(columns, rows, title)


def units(session: Session, chosen: Iterable[Place] | None) -> list[Place]:
    """Return the units that `info groups` shows for the places `chosen`; None means the focus.

    For a core, the result has its units of the first level; for a unit that is the only place, the
    units one level below it. Any other place is in the result itself. If the focus is one core that
    has no units, the result has all cores.
    """
    device = session.device
    where = list(session.focus if chosen is None else chosen)
    if chosen is None and len(where) == 1 and not device.cores[where[0].core].table.levels:
        return [Place(core.name) for core in device.order]
    deepest: dict[Place, None] = {}
    for place in where:
        deeper = 0
        levels = len(device.cores[place.core].table.levels)
        if not place.units or (len(where) == 1 and len(place.units) < levels):
            deeper = min(1, levels)
        text = str(place) if not deeper else _inside(place)
        deepest.update(dict.fromkeys(places(device, text)))
    return list(deepest)


def _inside(place: Place) -> str:
    """Return the text that denotes all units one level below a place."""
    if place.units:
        return f"{place}.*"
    return f"{place.core[:-1]},*]" if place.core.endswith("]") else f"{place}[*]"


def groups(session: Session, chosen: Iterable[Place]) -> list[Group]:
    """Return the units in `chosen`, grouped by instruction and state; the largest group first."""
    device = session.device
    device.sync()
    by_key: dict[tuple[str, ...], Group] = {}
    names: dict[tuple[str, int], tuple[Where, str]] = {}
    for place in chosen:
        core = device.cores[place.core]
        item = core.unit(place.units) if core.running and place.units else _whole(session, place)
        if item.ended or item.address is None:
            state = IDLE if item.ended or not item.note else item.note
            group = by_key.setdefault((IDLE, state), Group(state, state))
            group.units.append(place)
            continue
        key = core.name, item.address
        if key not in names:
            where = session.where(core, item.address)
            names[key] = where, _mnemonic(session, core, item.address)
        where, name = names[key]
        state = f"{WAITS}{item.on}" if item.on else "runs"
        full_key = core.table.name, name, where.symbol or str(where.address), state
        by_key.setdefault(full_key, Group(name, state, where)).units.append(place)
    return sorted(by_key.values(), key=lambda group: -len(group.units))


def _whole(session: Session, place: Place) -> Stall:
    """Return a `Stall` record for a core as a whole, which has ended, waits or runs."""
    core = session.device.cores[place.core]
    if not core.running:
        return Stall(ended=True)
    on = core.waiting.on if core.waiting is not None else ""
    return Stall("", on, address=core.next_address, note="runs")


def _mnemonic(session: Session, core: Core, address: int) -> str:
    """Return the mnemonic at `address`, of an instruction or a packet; else the address as text."""
    if core.table.executable:
        instruction = session.source_code(core).instruction(address)
        return instruction.row.mnemonic if instruction is not None else f"{address:#010x}"
    try:
        rows = instructions(session, address, 1)
    except CommandError:
        return f"{address:#010x}"
    records = {row.name for row in core.table.structures}
    return next((word for word in rows[0].text.split() if word not in records), IDLE)
