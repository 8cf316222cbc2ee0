"""Stall trees: from each waiting core to the cores for which it waits (`why-stalled`).

A tree is built from the reports of the cores (`macaw.emu.inspection.Inspectable.stalls`). A branch
of the tree ends at a core that is busy or that will continue by itself. A branch also ends where
the wait can never end:

- at a core that has ended, has faulted or was never started,
- at a circle of waits,
- or where no core could end the wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from macaw.debugger.stops import StopRecord, Where
from macaw.debugger.where import where_of
from macaw.emu.inspection import Stall
from macaw.emu.waits import NEVER

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.emu.core import Core

MOST = 8  # the greatest number of parts of a core that are shown below it
WAITS, BUSY, ENDED, IDLE, CIRCLE, NOBODY = "waits", "busy", "ended", "idle", "circle", "nobody"
FAULTED = "faulted"
# states of nodes that will never end the wait of the node above
FINAL = (FAULTED, ENDED, IDLE, CIRCLE, NOBODY)


@dataclass(frozen=True)
class StallNode:
    """A node of the tree: a core or a part of one, its state, and what it waits for.

    `who` is the name of the core or part; it is empty if no core could end the wait of the node
    above. `on` is a phrase for what would end the node's own wait, which began in cycle `since`.
    `causes` are the nodes that could end it; `more` is the number of such nodes that are left out.
    `until` is the cycle in which the core continues by itself. `where` is the place of its present
    instruction, and `by` the place of the instruction with which `who` would end the wait of the
    node above.
    """

    who: str  # `cp`, `fim[0] block 1`
    state: str  # "waits", "busy", "ended", "idle" (never started), "circle", "nobody", "faulted"
    on: str = ""
    since: int | None = None  # the cycle since which it waits
    until: int | None = None  # the cycle at which it continues by itself
    where: Where | None = None  # where its present instruction is
    by: Where | None = None
    note: str = ""
    causes: tuple[StallNode, ...] = ()
    more: int = 0


@dataclass(frozen=True)
class StallReport:
    """The result of `why-stalled`: the trees, and sentences about what ends or blocks the waits."""

    trees: tuple[StallNode, ...]
    causes: tuple[str, ...]  # sentences about the ends of the trees


def why_stalled(
    debuggee: Debuggee, last_stop: StopRecord, cores: Iterable[Core] = ()
) -> StallReport:
    """Return the stall trees of `cores`.

    `last_stop` says which core has faulted. Without `cores`, return a tree for each running core
    that is not in an earlier tree.
    """
    debuggee.device.sync()
    builder = _Builder(debuggee, last_stop)
    chosen = list(cores)
    trees: list[StallNode] = []
    for core in chosen or [x for x in debuggee.device.order if x.running]:
        if chosen or core.name not in builder.cores:
            trees.append(builder.core(core, ()))
    return StallReport(tuple(trees), tuple(_causes(trees)))


class _Builder:
    def __init__(self, debuggee: Debuggee, last_stop: StopRecord) -> None:
        self.debuggee = debuggee
        self.last_stop = last_stop
        self.cores: set[str] = set()

    def core(self, core: Core, path: tuple[str, ...]) -> StallNode:
        """Return the node of a core; `path` has the names of the nodes above it.

        If parts of the core wait independently of each other, their nodes are the children of the
        core's node.
        """
        if core.name in path:
            return _circle(core.name, path)
        self.cores.add(core.name)
        stop = self.last_stop
        where = stop.where
        if stop.fault is not None and where is not None and where.core == core.name:
            note = f"{stop.fault['kind']}: {stop.fault['message']}"
            return StallNode(core.name, FAULTED, where=where, note=note)
        stalls = core.stalls()
        if len(stalls) == 1 and not stalls[0].part:
            return self._node(core, stalls[0], path)
        running = [item for item in stalls if not item.ended]
        below = tuple(self.part(core, item, (*path, core.name), None) for item in running[:MOST])
        all_wait = all(item.state == WAITS for item in below)
        since = min((x.since for x in below if x.since is not None), default=None)
        return StallNode(
            core.name, WAITS if all_wait else BUSY, since=since if all_wait else None,
            note=f"{len(running)} of {len(stalls)} parts run", causes=below,
            more=max(0, len(running) - MOST),
        )  # fmt: skip

    def part(
        self, core: Core, item: Stall, path: tuple[str, ...], by: int | None
    ) -> StallNode:  # fmt: skip
        """Return the node of `item`, a part of a core that waits independently (`Stall.part`).

        `path` has the names of the nodes above. `by` is the address of an instruction that would
        end the wait of the node above, or None.
        """
        name = f"{core.name} {item.part}"
        if name in path:
            return _circle(name, path)
        return self._node(core, item, path, None if by is None else self._where(core, by))

    def _node(
        self, core: Core, item: Stall, path: tuple[str, ...], by: Where | None = None
    ) -> StallNode:  # fmt: skip
        name = f"{core.name} {item.part}" if item.part else core.name
        where = None if item.address is None else self._where(core, item.address)
        until = item.until if item.until < NEVER else None
        if item.ended:
            has_run = item.part or core.start_count or core.retired
            return StallNode(name, ENDED if has_run else IDLE, where=where, by=by, note=item.note)
        if not item.on:
            if until is not None and until <= self.debuggee.device.cycle:
                until = None  # it continues in the present cycle
            return StallNode(name, BUSY, until=until, where=where, by=by, note=item.note)
        since = item.since if item.since < NEVER else None
        causes: tuple[StallNode, ...] = ()
        if until is None:  # a core that continues by itself waits for no other core
            causes = tuple(self._enders(core, item, (*path, name)))
            causes = causes or (StallNode("", NOBODY, note=item.on),)
        return StallNode(name, WAITS, item.on, since, until, where, by, item.note, causes)

    def _enders(self, core: Core, item: Stall, path: tuple[str, ...]) -> Iterator[StallNode]:
        others = [x for x in self.debuggee.device.order if item.cores >> x.number & 1]
        some_run = [x for x in others if x.running]
        for other in some_run or others:
            yield self.core(other, path)
        stalls = {x.part: x for x in core.stalls()} if item.parts else {}
        for name, address in item.parts[:MOST]:
            if name in stalls:
                yield self.part(core, stalls[name], path, address)

    def _where(self, core: Core, address: int) -> Where:
        return where_of(self.debuggee.program, core, address)


def _circle(name: str, path: tuple[str, ...]) -> StallNode:
    around = [*path[path.index(name) :], name]
    return StallNode(name, CIRCLE, note=" -> ".join(around))


def _causes(trees: Sequence[StallNode]) -> Iterator[str]:
    """Yield a sentence for each core, circle or reason at which a branch of the trees ends.

    The sentences about waits that can never end come first.
    """
    leaves = [leaf for tree in trees for leaf in _leaves(tree, None)]
    final = [(leaf, above) for leaf, above in leaves if leaf.state in FINAL]
    others = [(leaf, above) for leaf, above in leaves if leaf.state not in FINAL]
    names: set[str] = set()
    for leaf, above in [*final, *others]:
        who = leaf.note if leaf.state in (CIRCLE, NOBODY) else leaf.who
        if who not in names:
            names.add(who)
            yield _sentence(leaf, above)


def _leaves(
    tree: StallNode, above: StallNode | None
) -> Iterator[tuple[StallNode, StallNode | None]]:
    if not tree.causes or tree.state == BUSY:
        yield tree, above
        return
    for item in tree.causes:
        # If the core does not wait itself, the wait that its parts could end is the one above the
        # core.
        yield from _leaves(item, tree if tree.on else above)


def _sentence(leaf: StallNode, above: StallNode | None) -> str:
    wait = f": {above.who} waits for {above.on}" if above is not None and leaf.who else ""
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
            return f"{leaf.who} has ended{at}, and gives no more{by}{wait}"
        case "idle":
            return f"{leaf.who} was never started{wait}"
        case "faulted":
            at = f" at {_place(leaf.where)}" if leaf.where is not None else ""
            return f"{leaf.who} has faulted{at} ({leaf.note}){wait}"
        case "nobody":
            who = above.who if above is not None else "it"
            return f"no core could end that: {who} waits for {leaf.note}"
        case "waits":
            return f"{leaf.who} continues at cycle {leaf.until:,}"
    until = f" until cycle {leaf.until:,}" if leaf.until is not None else ""
    doing = f" ({leaf.note})" if leaf.note else ""
    return f"{leaf.who} is busy{until}{doing}{wait}"


# Text


def rows(stalls: StallReport, cycle: int) -> Iterator[tuple[str, str, int, bool]]:
    """Yield rows for the screen as (name, text, depth, final), for the trees of a report.

    `final` is true if the row's core will never end the wait of the row above. If there is a final
    row, a row with an empty name follows for each sentence in `stalls.causes`. The text gives the
    cycles of each wait up to `cycle`.
    """
    never = False
    for tree in stalls.trees:
        for row in _tree_rows(tree, cycle, 0):
            never |= row[3]
            yield row
    for cause in stalls.causes if never else ():
        yield "", cause, 0, True


def _tree_rows(item: StallNode, cycle: int, depth: int) -> Iterator[tuple[str, str, int, bool]]:
    yield item.who, _brief(item, cycle), depth, item.state in FINAL
    for cause in item.causes:
        yield from _tree_rows(cause, cycle, depth + 1)
    if item.more:
        yield "", f"and {item.more} more", depth + 1, False


def _brief(item: StallNode, cycle: int) -> str:
    """Return a short text for the state of a node in `cycle`."""
    if item.state == NOBODY:
        return "no core could end that"
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


def lines(stalls: StallReport) -> Iterator[str]:
    """Yield the report as lines of text: the trees, then the sentences about the waits."""
    for tree in stalls.trees:
        yield from _tree_lines(tree, "")
    if not stalls.trees:
        yield "no core runs"
    for cause in stalls.causes:
        yield f"cause: {cause}"


def _tree_lines(item: StallNode, indent: str) -> Iterator[str]:
    yield indent + _line(item)
    for cause in item.causes:
        yield from _tree_lines(cause, indent + "  ")
    if item.more:
        yield f"{indent}  and {item.more} more"


def _line(item: StallNode) -> str:
    if item.state == NOBODY:
        return "no core could end that"
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
    text = f"{where.address:#010x}" if where.address is not None else where.core
    if where.symbol:
        text += f" <{where.symbol}>"
    return text + (f" {where.file}:{where.line}" if where.file else "")
