"""Tests all watches of a session. Memories and cores report accesses to this module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from macaw.debugger.places import Place
from macaw.debugger.point import WATCHES, Point
from macaw.debugger.queue_delta import QueueDelta, QueueTracker
from macaw.debugger.watch_target import ACCESSES, QUEUE_ACCESSES, WatchTarget
from macaw.emu.breaks import Instrumented
from macaw.emu.pages import PAGE
from macaw.isa.memory_map import EXTERNAL, UNITS

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.expressions import Expression
    from macaw.emu.breaks import Probe
    from macaw.emu.core import Core
    from macaw.emu.pages import Pages

Announcement = tuple[str, str, dict[str, Any]]  # kind, core, values
ProbeHit = tuple[WatchTarget, str, int]  # target, access, address of the instruction


class WatchHit(NamedTuple):
    """A change of a watched value, or an access to it, that may be a hit of the watch `point`.

    `by` is the name of the core that has made the access; it is empty for the arbiter of a memory.
    """

    point: Point
    by: str
    values: dict[str, Any]
    old: Any
    new: Any


class WatchSet:
    """The watches of one session, with their targets on its present device."""

    def __init__(self, debuggee: Debuggee) -> None:
        self.debuggee = debuggee
        self.all: list[WatchTarget] = []
        self._trackers: list[QueueTracker] = []
        self._probes: dict[str, list[Probe]] = {}  # by core: the probes
        self._cores_with_probes: set[str] = set()  # the cores that have probes now
        self._watched_pages: set[int] = set()  # ids of memories that report changes to `_on_page`
        self._is_on = False
        self._pages_changed = False  # whether a watched page has changed in this act
        self._probe_hits: list[ProbeHit] = []  # accesses that probes have reported in this act

    def prepare(
        self, points: Iterable[Point], condition: Callable[[Point, Place], Expression | None]
    ) -> None:
        """Build the targets of the watches among these points.

        `condition(point, place)` returns the compiled condition of a point, in which short names
        refer to `place`.
        """
        device = self.debuggee.device
        self.all = [WatchTarget(self.debuggee, point) for point in points if point.kind in WATCHES]
        self._trackers, self._probes = [], {}
        queues: dict[str, set[tuple[Place, str]]] = {}
        for target in self.all:
            for name in target.probe_cores:
                own = condition(target.point, Place(name))
                probes = target.probes(device.cores[name], own, self._on_probe)
                self._probes.setdefault(name, []).extend(probes)
            if target.point.kind in QUEUE_ACCESSES:
                for name, some in target.queues.items():
                    queues.setdefault(name, set()).update(some)
        for name, some in queues.items():
            tracker = QueueTracker(device, device.cores[name], sorted(some, key=str))
            self._trackers.append(tracker)

    def forget_device(self) -> None:
        """Drop the records of probes and watched memory, because the device has been replaced."""
        self._watched_pages, self._cores_with_probes = set(), set()

    # Before and after a run

    def arm(self) -> None:
        """Start to watch the values of all watches.

        Some cores get probes: tests that they make by themselves after instructions. The present
        values are stored as the old ones. Memories report changes of watched bytes from now on.
        """
        self._probe_hits, self._pages_changed, self._is_on = [], False, True
        for name in self._cores_with_probes | set(self._probes):
            core = self.debuggee.device.cores[name]
            if isinstance(core, Instrumented):
                core.set_probes(self._probes.get(name, ()))
        self._cores_with_probes = set(self._probes)
        for target in self.all:
            target.begin()
        for tracker in self._trackers:
            tracker.begin()
        self._watch_pages()

    def rest(self) -> None:
        """Stop watching after a run.

        Probes remain set for the next run, but until then the object ignores their reports.
        """
        self._is_on = False

    @property
    def act_cores(self) -> set[str]:
        """The names of the cores whose acts must be examined one by one.

        An act is an instruction or, for some cores, a cycle.
        """
        order = self.debuggee.device.order
        names: set[str] = set()
        for tracker in self._trackers:
            names |= {core.name for core in order} if tracker.by_others else {tracker.core.name}
        for target in self.all:
            names |= target.act_cores
            if target.extents:
                on_chip = any(UNITS <= at < EXTERNAL for at, _ in target.extents)
                reads = target.point.kind in ACCESSES
                names |= {
                    core.name
                    for core in order
                    if reads or on_chip or not isinstance(core, Instrumented)
                }
        return names

    def _watch_pages(self) -> None:
        """Make the memories report changes to the watched bytes."""
        for target in self.all:
            for address, length in target.extents:
                pages, offset = self.debuggee.device.memory.locate(address, max(1, length))
                if id(pages) not in self._watched_pages:
                    self._watched_pages.add(id(pages))
                    pages.on_change(self._on_page)
                _hold(pages, offset, length)

    # During a run

    def _on_page(self, page: int) -> None:
        """React to a change in a watched page: make the acting core pause after its present act.

        In the pause the monitor tests the watches.
        """
        if self.all and self._is_on:
            self._pages_changed = True
            device = self.debuggee.device
            core = device.acting
            if isinstance(core, Instrumented):
                device.cycle = core.time  # the core may have continued since its turn began
                core.ask()

    def _on_probe(self, target: WatchTarget, access: str, address: int) -> None:
        """React to a probe's report: record an access to the watched registers of `target`."""
        if self._is_on:
            self._probe_hits.append((target, access, address))

    def after_act(
        self, core: Core | None, announcements: Sequence[Announcement]
    ) -> Iterator[WatchHit]:
        """Yield the hits of watches in an act of a core, such as an instruction.

        If `core` is None, the arbiter of a memory acts. `announcements` are the reports that the
        core has made during the act on what it does.
        """
        probe_hits, self._probe_hits = self._probe_hits, []
        for kind, name, values in announcements:
            yield from self._announced_accesses(self.debuggee.device.cores[name], kind, values)
        for target in self.all:
            own = [x for x in probe_hits if x[0] is target]
            yield from self._probed_accesses(target, core, own)
        probe_targets = {id(target) for target, _, _ in probe_hits}
        yield from self._changes(core, announcements, probe_targets)
        yield from self._queue_accesses(core)

    def _announced_accesses(
        self, core: Core, kind: str, values: dict[str, Any]
    ) -> Iterator[WatchHit]:
        for target in self.all:
            if target.point.kind not in ACCESSES or not target.counts(core.name):
                continue
            accesses: list[str] = []
            if kind in ACCESSES[target.point.kind]:
                accesses = [kind] * target.touches(values["address"], values["size"])
            elif kind == "instruction" and core.name in target.registers.keys() - (
                target.probe_cores
            ):
                accesses = target.accesses(core, values)
            if accesses:
                more = {"access": " and ".join(accesses), **values}
                change = target.change() if "write" in accesses else None
                yield WatchHit(target.point, core.name, more, *(change or (None, target.value())))

    def _probed_accesses(
        self, target: WatchTarget, core: Core | None, probe_hits: Sequence[ProbeHit]
    ) -> Iterator[WatchHit]:
        if target.point.kind not in ACCESSES or not probe_hits:
            return
        old, new = target.change() or (None, target.value())
        old = old if target.point.kind == "awatch" else None
        by = _name(core) or next(iter(target.probe_cores))
        if target.counts(by):
            kinds = {access for _, access, _ in probe_hits}
            accesses = [access for access in ("read", "write") if access in kinds]
            more = {"access": " and ".join(accesses), "address": probe_hits[-1][2]}
            yield WatchHit(target.point, by, more, old, new)

    def _changes(
        self, core: Core | None, announcements: Sequence[Announcement], probe_targets: set[int]
    ) -> Iterator[WatchHit]:
        """Yield the hits of watches whose values differ from the values before the act.

        `probe_targets` are the ids of those targets for which a core has reported an access in this
        act, by a probe.
        """
        dirty, self._pages_changed = self._pages_changed, False
        name = _name(core)
        writers = [who for kind, who, _ in announcements if kind in ("write", "read")]
        for target in self.all:
            kind = target.point.kind
            in_memory = dirty and bool(target.extents)
            may_change = core is None or name in target.act_cores
            if not (in_memory or id(target) in probe_targets or (target.act_cores and may_change)):
                continue
            change = target.change()
            if change is None or kind == "rwatch":
                continue
            if kind == "awatch" and (writers or not in_memory):
                continue  # `_announced_accesses` has this access
            by = name or (writers[-1] if writers else "")
            if not by and id(target) in probe_targets:
                by = next(iter(target.probe_cores))
            if target.counts(by):
                yield WatchHit(target.point, by, {}, *change)
        if dirty:
            self._watch_pages()

    def _queue_accesses(self, core: Core | None) -> Iterator[WatchHit]:
        if core is None:
            return
        for tracker in self._trackers:
            if not (tracker.by_others or tracker.core is core):
                continue
            for delta in tracker.look():
                for target in self.all:
                    yield from self._queue_access(target, core, delta)

    def _queue_access(
        self, target: WatchTarget, core: Core, delta: QueueDelta
    ) -> Iterator[WatchHit]:
        counts = dict(zip(QUEUE_ACCESSES["awatch"], (delta.pops, delta.pushes), strict=True))
        accesses = [x for x in QUEUE_ACCESSES.get(target.point.kind, ()) if counts[x]]
        if accesses and target.counts(core.name) and target.has_queue(delta.place, delta.queue):
            values = {
                "access": " and ".join(accesses),
                "queue": f"{delta.place}.{delta.queue}",
                **{access: counts[access] for access in accesses},
            }
            old = delta.level + delta.pops - delta.pushes
            yield WatchHit(target.point, core.name, values, old, delta.level)


def _name(core: Core | None) -> str:
    return "" if core is None else core.name


def _hold(pages: Pages, offset: int, length: int) -> None:
    """Make a memory report changes to `length` bytes at `offset` of `pages`."""
    end = offset + length
    while offset < end:
        stop = min(end, (offset // PAGE + 1) * PAGE)
        pages.watch(offset, stop - offset)
        offset = stop
