"""Who waits for what, since when, for whom, and what those do: down to the true cause.

The tree is built of what cores say of themselves (`macaw.emu.core.Core.stalls`). It ends at
somebody who has ended and never gives what others wait for, who has faulted, at a circle, or at
somebody who is busy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from macaw.debugger.stops import Where
from macaw.emu.core import NEVER, Stall

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.emu.core import Core

MOST = 8  # parts of a core that are shown below it
WAITS, BUSY, ENDED, IDLE, CIRCLE, NOBODY = "waits", "busy", "ended", "idle", "circle", "nobody"
FAULTED = "faulted"
FINAL = (FAULTED, ENDED, IDLE, CIRCLE, NOBODY)  # what never ends a wait


@dataclass(frozen=True)
class Stalled:
    """Somebody who waits, or for whom somebody waits."""

    who: str  # `cp`, `fim[0] block 1`; empty: nobody could end the wait
    state: str  # "waits", "busy", "ended", "idle" (it never began), "circle", "nobody", "faulted"
    on: str = ""  # what would end its wait
    since: int | None = None
    until: int | None = None  # it goes on by itself then
    where: Where | None = None  # its instruction
    by: Where | None = None  # the instruction of it that would end the wait above
    note: str = ""
    causes: tuple[Stalled, ...] = ()  # who could end its wait
    more: int = 0  # parts that are not shown


@dataclass(frozen=True)
class Stalls:
    """The answer of `why-stalled`."""

    trees: tuple[Stalled, ...]
    causes: tuple[str, ...]  # the true ones, in words


def why_stalled(session: Session, cores: Iterable[Core] = ()) -> Stalls:
    """The trees of these cores, or of all that run and are not below another one."""
    session.device.sync()
    builder = _Builder(session)
    chosen = list(cores)
    trees: list[Stalled] = []
    for core in chosen or [x for x in session.device.order if x.running]:
        if chosen or core.name not in builder.shown:
            trees.append(builder.core(core, ()))
    return Stalls(tuple(trees), tuple(_causes(trees)))


class _Builder:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.shown: set[str] = set()

    def core(self, core: Core, path: tuple[str, ...]) -> Stalled:
        """A core: as a whole, or with its parts that run below it."""
        if core.name in path:
            return _circle(core.name, path)
        self.shown.add(core.name)
        stopped = self.session.stopped
        where = stopped.where
        if stopped.fault is not None and where is not None and where.core == core.name:
            said = f"{stopped.fault['kind']}: {stopped.fault['message']}"
            return Stalled(core.name, FAULTED, where=where, note=said)
        known = core.stalls()
        if len(known) == 1 and not known[0].part:
            return self._node(core, known[0], path)
        running = [item for item in known if not item.ended]
        below = tuple(self.part(core, item, (*path, core.name), None) for item in running[:MOST])
        all_wait = all(item.state == WAITS for item in below)
        since = min((x.since for x in below if x.since is not None), default=None)
        return Stalled(
            core.name, WAITS if all_wait else BUSY, since=since if all_wait else None,
            note=f"{len(running)} of {len(known)} parts run", causes=below,
            more=max(0, len(running) - MOST),
        )  # fmt: skip

    def part(
        self, core: Core, item: Stall, path: tuple[str, ...], by: int | None
    ) -> Stalled:  # fmt: skip
        """A part of a core; `by` is the word of it that would end the wait above."""
        name = f"{core.name} {item.part}"
        if name in path:
            return _circle(name, path)
        return self._node(core, item, path, None if by is None else self._where(core, by))

    def _node(
        self, core: Core, item: Stall, path: tuple[str, ...], by: Where | None = None
    ) -> Stalled:  # fmt: skip
        name = f"{core.name} {item.part}" if item.part else core.name
        where = None if item.address is None else self._where(core, item.address)
        until = item.until if item.until < NEVER else None
        if item.ended:
            begun = item.part or core.begun or core.retired
            return Stalled(name, ENDED if begun else IDLE, where=where, by=by, note=item.note)
        if not item.on:
            return Stalled(name, BUSY, until=until, where=where, by=by, note=item.note)
        since = item.since if item.since < NEVER else None
        causes: tuple[Stalled, ...] = ()
        if until is None:  # who goes on by itself waits for nobody any more
            causes = tuple(self._enders(core, item, (*path, name)))
            causes = causes or (Stalled("", NOBODY, note=item.on),)
        return Stalled(name, WAITS, item.on, since, until, where, by, item.note, causes)

    def _enders(self, core: Core, item: Stall, path: tuple[str, ...]) -> Iterator[Stalled]:
        awaited = [x for x in self.session.device.order if item.cores >> x.number & 1]
        some_run = [x for x in awaited if x.running]
        for other in some_run or awaited:
            yield self.core(other, path)
        known = {x.part: x for x in core.stalls()} if item.parts else {}
        for name, address in item.parts[:MOST]:
            if name in known:
                yield self.part(core, known[name], path, address)

    def _where(self, core: Core, address: int) -> Where:
        return self.session.where(core, address)


def _circle(name: str, path: tuple[str, ...]) -> Stalled:
    around = [*path[path.index(name) :], name]
    return Stalled(name, CIRCLE, note=" -> ".join(around))


def _causes(trees: Sequence[Stalled]) -> Iterator[str]:
    """The ends of the trees in words: what never ends first."""
    leaves = [leaf for tree in trees for leaf in _leaves(tree, None)]
    final = [(leaf, above) for leaf, above in leaves if leaf.state in FINAL]
    others = [(leaf, above) for leaf, above in leaves if leaf.state not in FINAL]
    said: set[str] = set()
    for leaf, above in [*final, *others]:
        who = leaf.note if leaf.state in (CIRCLE, NOBODY) else leaf.who
        if who not in said:
            said.add(who)
            yield _sentence(leaf, above)


def _leaves(tree: Stalled, above: Stalled | None) -> Iterator[tuple[Stalled, Stalled | None]]:
    if not tree.causes or tree.state == BUSY:
        yield tree, above
        return
    for item in tree.causes:
        # Below a core stand its parts: for whom somebody waits is said by that one.
        yield from _leaves(item, tree if tree.on else above)


def _sentence(leaf: Stalled, above: Stalled | None) -> str:
    wanted = f": {above.who} waits for {above.on}" if above is not None and leaf.who else ""
    by = f" (it would come from {_place(leaf.by)})" if leaf.by is not None else ""
    match leaf.state:
        case "circle":
            names = leaf.note.split(" -> ")
            if len(set(names)) == 1:
                on = f", by {above.on}" if above is not None else ""
                return f"{leaf.who} waits for itself{on}"
            return f"a circle: {leaf.note}"
        case "ended":
            at = f" at {_place(leaf.where)}" if leaf.where is not None else ""
            return f"{leaf.who} has ended{at}, and gives no more{by}{wanted}"
        case "idle":
            return f"{leaf.who} was never started{wanted}"
        case "faulted":
            at = f" at {_place(leaf.where)}" if leaf.where is not None else ""
            return f"{leaf.who} has faulted{at} ({leaf.note}){wanted}"
        case "nobody":
            who = above.who if above is not None else "it"
            return f"nobody could end that: {who} waits for {leaf.note}"
        case "waits":
            return f"{leaf.who} goes on at cycle {leaf.until:,}"
    until = f" until cycle {leaf.until:,}" if leaf.until is not None else ""
    doing = f" ({leaf.note})" if leaf.note else ""
    return f"{leaf.who} is busy{until}{doing}{wanted}"


# Text


def rows(stalls: Stalls, cycle: int) -> Iterator[tuple[str, str, int, bool]]:
    """For the screen at a cycle: who, what it does, how deep it stands, whether that never ends.

    Below the trees, if there is such an end, the true causes, with nobody before them.
    """
    never = False
    for tree in stalls.trees:
        for row in _tree_rows(tree, cycle, 0):
            never |= row[3]
            yield row
    for cause in stalls.causes if never else ():
        yield "", cause, 0, True


def _tree_rows(item: Stalled, cycle: int, depth: int) -> Iterator[tuple[str, str, int, bool]]:
    yield item.who, _brief(item, cycle), depth, item.state in FINAL
    for cause in item.causes:
        yield from _tree_rows(cause, cycle, depth + 1)
    if item.more:
        yield "", f"and {item.more} more", depth + 1, False


def _brief(item: Stalled, cycle: int) -> str:
    """What somebody does, in few words."""
    if item.state == NOBODY:
        return "nobody could end that"
    if item.state == CIRCLE:
        alone = len(set(item.note.split(" -> "))) == 1
        return "itself" if alone else f"a circle: {item.note}"
    text = _STATES[item.state]
    if item.on:
        text += f" for {item.on}"
    if item.since is not None:
        text += f", {cycle - item.since:,} cycles"
    elif item.note:
        text += f" ({item.note})"
    if item.until is not None:
        text += f", until {item.until:,}"
    if item.where is not None and item.where.file:
        text += f", {PurePath(item.where.file).name}:{item.where.line}"
    return text


def lines(stalls: Stalls) -> Iterator[str]:
    """The trees, then the true causes."""
    for tree in stalls.trees:
        yield from _tree_lines(tree, "")
    if not stalls.trees:
        yield "no core runs"
    for cause in stalls.causes:
        yield f"cause: {cause}"


def _tree_lines(item: Stalled, indent: str) -> Iterator[str]:
    yield indent + _line(item)
    for cause in item.causes:
        yield from _tree_lines(cause, indent + "  ")
    if item.more:
        yield f"{indent}  and {item.more} more"


def _line(item: Stalled) -> str:
    if item.state == NOBODY:
        return "nobody could end that"
    if item.state == CIRCLE:
        if len(set(item.note.split(" -> "))) == 1:
            return f"{item.who} itself"
        return f"{item.who}: a circle, {item.note}"
    text = f"{item.who} {_STATES[item.state]}"
    if item.on:
        text += f" for {item.on}"
    if item.note:
        text += f" ({item.note})"
    if item.since is not None:
        text += f" since cycle {item.since:,}"
    if item.until is not None:
        text += f" until cycle {item.until:,}"
    if item.where is not None:
        text += f" at {_place(item.where)}"
    if item.by is not None:
        text += f"; it gives at {_place(item.by)}"
    return text


_STATES = {
    WAITS: "waits", BUSY: "is busy", ENDED: "has ended", IDLE: "was never started",
    FAULTED: "has faulted",
}  # fmt: skip


def _place(where: Where) -> str:
    found = f"{where.address:#010x}" if where.address is not None else where.core
    if where.symbol:
        found += f" <{where.symbol}>"
    return found + (f" {where.file}:{where.line}" if where.file else "")
