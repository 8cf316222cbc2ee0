"""All watches of a session at work: what they ask of memories and cores, and what they see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from macaw.debugger.expressions import Expression
from macaw.debugger.moves import Move, Moves
from macaw.debugger.places import Place
from macaw.debugger.points import WATCHES, Point
from macaw.debugger.watched import ACCESSES, MOVES, Watched, hold
from macaw.isa.memory_map import EXTERNAL, UNITS

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.emu.breaks import Probe
    from macaw.emu.core import Core
    from macaw.emu.device import Device

Noted = tuple[str, str, dict[str, Any]]  # kind, core, values
TOLD = "told"  # the kind of what a probe says


class Seen(NamedTuple):
    """A change, or an access: of a watch, by a core (empty: the arbiter)."""

    point: Point
    by: str
    values: dict[str, Any]
    old: Any
    new: Any


class Watches:
    """The watches of one session on its device of now."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.all: list[Watched] = []
        self._moves: list[Moves] = []  # of queues that are watched
        self._probes: dict[str, list[Probe]] = {}
        self._probing: set[str] = set()  # cores that have probes now
        self._held: set[int] = set()  # ids of memories that tell of changes
        self._armed = False
        self._dirty = False
        self._told: list[tuple[Watched, str, int]] = []  # in this act: access, instruction

    def prepare(self, device: Device, condition: Callable[[Point, str], Expression | None]) -> None:
        """Make all of them for a device; `condition(point, core)` is a point's as seen there."""
        active = self.session.points.active
        self.all = [Watched(self.session, point) for point in active if point.kind in WATCHES]
        self._moves, self._probes = [], {}
        queues: dict[str, set[tuple[Place, str]]] = {}
        for watched in self.all:
            for name in watched.probed:
                core, asked = device.cores[name], condition(watched.point, name)
                self._probes.setdefault(name, []).extend(watched.probes(core, asked, self._tell))
            if watched.point.kind in MOVES:
                for name, some in watched.queues.items():
                    queues.setdefault(name, set()).update(some)
        for name, some in queues.items():
            self._moves.append(Moves(device, device.cores[name], sorted(some, key=str)))

    def forget_device(self) -> None:
        """The device is another object."""
        self._held, self._probing = set(), set()

    # On and off

    def arm(self, device: Device) -> None:
        """A run begins."""
        self._told, self._dirty, self._armed = [], False, True
        for name in self._probing | set(self._probes):
            device.cores[name].set_probes(self._probes.get(name, ()))
        self._probing = set(self._probes)
        for watched in self.all:
            watched.begin()
        for moves in self._moves:
            moves.begin()
        self._hold()

    def rest(self) -> None:
        """The run is over. Probes stay for the next one, and are not listened to."""
        self._armed = False

    def wanted(self) -> set[str]:
        """The cores whose acts have to be seen one by one."""
        order = self.session.device.order
        found: set[str] = set()
        for moves in self._moves:
            found |= {core.name for core in order} if moves.given else {moves.core.name}
        for item in self.all:
            found |= item.listened
            if item.extents:
                shared = any(at >= UNITS and at < EXTERNAL for at, _ in item.extents)
                reads = item.point.kind in ACCESSES
                found |= {core.name for core in order if not core.asks or reads or shared}
        return found

    def _hold(self) -> None:
        """Ask the memories to tell of changes to what is watched there."""
        for item in self.all:
            for address, length in item.extents:
                pages, offset = self.session.device.memory.locate(address, max(1, length))
                if id(pages) not in self._held:
                    self._held.add(id(pages))
                    pages.on_change(self._touched)
                hold(pages, offset, length)

    # While it runs

    def _touched(self, page: int) -> None:
        if self.all and self._armed:
            self._dirty = True
            device = self.session.device
            core = device.acting
            if core is not None and core.asks:
                device.cycle = core.time  # it may have gone on since its turn began
                core.ask()

    def _tell(self, watched: Watched, access: str, address: int) -> None:
        """A probe: an instruction has accessed registers that are watched."""
        if self._armed:
            self._told.append((watched, access, address))

    def seen(self, core: Core | None, noted: Sequence[Noted]) -> Iterator[Seen]:
        """What an act of a core (None: the arbiter) has done to what is watched."""
        told, self._told = self._told, []
        for kind, name, values in noted:
            yield from self._heard(self.session.device.cores[name], kind, values)
        for watched in self.all:
            yield from self._asked(watched, core, [x for x in told if x[0] is watched])
        yield from self._changed(core, noted, {id(watched) for watched, _, _ in told})
        yield from self._moved(core)

    def _heard(self, core: Core, kind: str, values: dict[str, Any]) -> Iterator[Seen]:
        """Accesses of which an announcement tells."""
        for watched in self.all:
            if watched.point.kind not in ACCESSES or not watched.counts(core.name):
                continue
            found: list[str] = []
            if kind in ACCESSES[watched.point.kind]:
                found = [kind] * watched.touches(values["address"], values["size"])
            elif kind == "instruction" and core.name in watched.registers.keys() - watched.probed:
                found = watched.accessed(core, values)
            if found:
                more = {"access": " and ".join(found), **values}
                both = watched.changed() if "write" in found else None
                yield Seen(watched.point, core.name, more, *(both or (None, watched.value())))

    def _asked(
        self, watched: Watched, core: Core | None, told: Sequence[tuple[Watched, str, int]]
    ) -> Iterator[Seen]:
        """Accesses of which probes tell."""
        if watched.point.kind not in ACCESSES or not told:
            return
        old, new = watched.changed() or (None, watched.value())
        old = old if watched.point.kind == "awatch" else None
        by = _name(core) or next(iter(watched.probed))
        if watched.counts(by):
            found = [access for access in ("read", "write") if access in {x for _, x, _ in told}]
            more = {"access": " and ".join(found), "address": told[-1][2]}
            yield Seen(watched.point, by, more, old, new)

    def _changed(self, core: Core | None, noted: Sequence[Noted], told: set[int]) -> Iterator[Seen]:
        """Values that are others than before."""
        dirty, self._dirty = self._dirty, False
        name = _name(core)
        writers = [who for kind, who, _ in noted if kind in ("write", "read")]
        for watched in self.all:
            kind = watched.point.kind
            memory = dirty and bool(watched.extents)
            looked = core is None or name in watched.listened
            if not (memory or id(watched) in told or (watched.listened and looked)):
                continue
            both = watched.changed()
            if both is None or kind == "rwatch" or (kind == "awatch" and (writers or not memory)):
                continue  # an access was heard
            by = name or (writers[-1] if writers else "")
            if not by and id(watched) in told:
                by = next(iter(watched.probed))
            if watched.counts(by):
                yield Seen(watched.point, by, {}, *both)
        if dirty:
            self._hold()

    def _moved(self, core: Core | None) -> Iterator[Seen]:
        """What has come into queues, and what has left them."""
        if core is None:
            return
        for moves in self._moves:
            if not (moves.given or moves.core is core):
                continue
            for move in moves.look():
                for watched in self.all:
                    yield from self._move(watched, core, move)

    def _move(self, watched: Watched, core: Core, move: Move) -> Iterator[Seen]:
        counts = dict(zip(MOVES["awatch"], (move.popped, move.pushed), strict=True))
        found = [x for x in MOVES.get(watched.point.kind, ()) if counts[x]]
        if found and watched.counts(core.name) and watched.has(move.place, move.queue):
            named = {"access": " and ".join(found), "queue": f"{move.place}.{move.queue}"}
            more = {**named, **{access: counts[access] for access in found}}
            old = move.level + move.popped - move.pushed
            yield Seen(watched.point, core.name, more, old, move.level)


def _name(core: Core | None) -> str:
    return "" if core is None else core.name
