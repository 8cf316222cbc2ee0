"""Decoded instructions by address, kept until code of their page changes.

Instructions that neither wait nor share anything are bound into *runs*: acts one
after the other, then a branch, a jump or the address behind them. The run is what
makes the engine fast; a run of one instruction is the same thing, so both have one meaning.
Where jumps often go to, the code becomes a Python function (`macaw.emu.scalar.translation`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from macaw.emu.faults import Fault
from macaw.emu.pages import PAGE, SHIFT, Pages
from macaw.emu.scalar import semantics
from macaw.emu.scalar.counting import COUNTING, CROSSING, PLAIN
from macaw.emu.scalar.semantics import SINK, Act, Decision, Exit, Leave
from macaw.emu.scalar.translation import HOT, MOST, Block
from macaw.isa.codec import Decoded, DecodeError, decode

if TYPE_CHECKING:
    from macaw.emu.scalar.hart import Hart

LONGEST = 64  # instructions of a run at most
CUT_HOT = 6  # times that a border of the trace cuts a block until it becomes one that crosses them
FEW = 8  # instructions for which entering a block is not worth it
ACTS = frozenset(("register", "immediate", "upper", "multiply", "divide", "load", "store"))
ENDS = frozenset(("branch", "jump"))


class Uses(NamedTuple):
    """How the instructions of a run use compute units, for the trace; times from its begin."""

    counts: tuple[int, ...]  # before each instruction, and at the end
    until: tuple[int, ...]  # the end of the last use before each instruction, and at the end
    first: int  # begin of the first use


class Run(NamedTuple):
    """Instructions that follow one another, all but the last of one way."""

    acts: tuple[Act, ...]
    end: Decision  # where to go on, and what the whole run has cost
    lead: int  # device cycles from its begin to the begin of its last instruction
    length: int  # instructions
    costs: tuple[int, ...]  # device cycles from its begin to the begin of each
    code: bytes  # what it was made of
    uses: Uses


class Code:
    """The decoded code of one core; `counts` says whether it keeps the core's tally."""

    def __init__(self, hart: Hart, counts: bool = False) -> None:
        self.hart = hart
        self.counts = counts
        self.runs: dict[int, Run] = {}
        self.steps: dict[int, Run] = {}  # runs of one instruction
        self._stale: dict[tuple[int, int], Run] = {}  # (longest, address): their page has changed
        self._words: dict[int, Decoded] = {}
        self.blocks: dict[int, Block] = {}  # translated, by address
        self._stale_blocks: dict[int, Block] = {}
        self._left: dict[int, int] = {}  # how often each block got nowhere, one time after another
        self._heat: dict[int, int] = {}  # jumps to each address
        self._cuts: dict[int, int] = {}  # how often a border was in the way of each block
        self.changes = 0  # of the code that runs and blocks were made of
        self._watched: dict[int, set[int]] = {}  # addresses of what lies in a page, by page address
        self._sources: set[int] = set()

    def fetch(self, address: int) -> Decoded:
        """The instruction at `address`. Raises `Fault`."""
        pages, offset = self.locate(address)
        return self._decode(address, pages.words[offset >> 2])

    def run(self, address: int) -> Run:
        """The longest run from `address` on, from now on in `runs`. Raises `Fault`."""
        return self._prepare(address, self.runs, LONGEST)

    def step(self, address: int) -> Run:
        """The run of the one instruction at `address`, from now on in `steps`. Raises `Fault`."""
        return self.steps.get(address) or self._prepare(address, self.steps, 1)

    def locate(self, address: int) -> tuple[Pages, int]:
        """The memory of an instruction, and its offset there. Raises `Fault`."""
        if address & 3:
            raise Fault(
                "misaligned access",
                f"fetch of an instruction at {address:#010x}, which is no multiple of 4",
                {"address": address, "size": 4},
            )
        pages, offset = self.hart.device.memory.locate(address, 4, "fetch")
        if pages.sleeper is not None:
            pages.sleeper.disturbed(self.hart.time)
            self.hart.ask()
        return pages, offset

    def _decode(self, address: int, word: int) -> Decoded:
        found = self._words.get(word)
        if found is None:
            try:
                found = decode(self.hart.table, word, 32, address)
            except DecodeError as error:
                detail = error.detail or f"no instruction of {self.hart.table.name}"
                raise Fault(
                    error.kind, f"the word {word:#010x}: {detail}", {"word": word}
                ) from None
            self._words[word] = found
        return found

    def _prepare(self, address: int, kept: dict[int, Run], longest: int) -> Run:
        pages, offset = self.locate(address)
        run = self._stale.pop((longest, address), None)
        if run is None or pages.read(offset, len(run.code)) != run.code:
            run = self._bind(address, pages, offset, longest)
        self._watch(address, pages, offset, len(run.code))
        kept[address] = run
        return run

    # Translated blocks

    def arrived(self, address: int) -> None:
        """Somebody has jumped to `address`; a block that is hot is translated."""
        heat = self._heat.get(address, 0) + 1
        self._heat[address] = heat
        if heat == HOT and address not in self.blocks:
            self._translate(address)

    def _translate(self, address: int) -> None:
        """Put the block at `address` into `blocks`, if it is worth it."""
        try:
            pages, offset = self.hart.device.memory.locate(address, 4)
        except Fault:
            return
        if address & 3:
            return
        if pages.sleeper is not None:  # the hart's time may lie behind: another time
            self._heat[address] -= 1
            return
        block = self._stale_blocks.pop(address, None)
        if block is None or pages.read(offset, len(block.code)) != block.code:
            edition = COUNTING if self.counts else PLAIN
            try:
                made = self._block(address, pages, offset, edition)
            except OSError:  # an installation without sources
                return
            if made is None:
                return
            block = made
        if len(self.blocks) + len(self._stale_blocks) >= MOST:
            self._drop()
        self._watch(address, pages, offset, len(block.code))
        self.blocks[address] = block

    def _block(self, address: int, pages: Pages, offset: int, edition: int) -> Block | None:
        """An edition of the block at an address; None if there is none. Raises `OSError`."""
        found = self._collected(address, pages, offset)
        if not found:
            return None
        code = pages.read(offset, 4 * len(found))
        return self.hart.translator(self.hart, address, found, edition).block(code)

    def cut(self, address: int) -> Block | None:
        """The block at `address`, before whose end a border of the trace lies, if it crosses them.

        It does when borders have been in its way some times.
        """
        block = self.blocks[address]
        if block.crosses:
            return block
        cuts = self._cuts[address] = self._cuts.get(address, 0) + 1
        if cuts < CUT_HOT:
            return None
        pages, offset = self.hart.device.memory.locate(address, 4)
        if pages.sleeper is not None:
            return None
        made = self._block(address, pages, offset, CROSSING)
        if made is not None:
            self._watch(address, pages, offset, len(made.code))
            self.blocks[address] = made
        return made

    def left(self, address: int, done: int) -> None:
        """The block at `address` was left for the plain way after so many instructions.

        One that gets nowhere again and again (its accesses go to on-chip memory) is given up.
        """
        count = 0 if done >= FEW else self._left.get(address, 0) + 1
        self._left[address] = count
        if count > HOT:
            self.blocks.pop(address, None)

    def _drop(self) -> None:
        """Forget all blocks; those that are hot come back."""
        self.blocks.clear()
        self._stale_blocks.clear()
        self._cuts.clear()
        self._heat.clear()
        self._left.clear()

    def clear(self) -> None:
        """Forget all that was made; decoded words stay."""
        self._drop()
        for kept in (self.runs, self.steps, self._stale):
            kept.clear()

    def rebind(self, addresses: Iterable[int]) -> None:
        """Forget what was made of instructions at these addresses: breaks come or go there."""
        for at in addresses:
            for runs in (self.runs, self.steps):
                _drop_at(runs, at)
            _drop_at(self.blocks, at)
            _drop_at(self._stale_blocks, at)
            self._stale = {
                key: run for key, run in self._stale.items() if not _holds(key[1], run.code, at)
            }
            self._heat = {key: heat for key, heat in self._heat.items() if heat < HOT}
            self._left.clear()

    def _collected(self, address: int, pages: Pages, offset: int) -> list[Decoded]:
        """The instructions of the block from `address` to a jump, or to what it cannot hold."""
        instructions: list[Decoded] = []
        probing = self.hart.probing
        for found in self._decoded(address, pages, offset, LONGEST, inlines=True):
            if not self.hart.translates(found) or found.values.get("target", 0) & 3:
                break
            if found.row.family in ENDS and probing.of(found):
                break
            instructions.append(found)
            if found.row.family == "jump":
                break
        return instructions

    def _decoded(
        self, address: int, pages: Pages, offset: int, longest: int, inlines: bool = False
    ) -> Iterator[Decoded]:
        """Up to `longest` instructions from `address` on, to what is none or the page's end.

        They end before a break that does not begin them; a block may hold one whose
        test is text.
        """
        breaks = self.hart.breaks if longest > 1 else {}
        for place in range(min(longest, (PAGE - (offset & PAGE - 1)) >> 2)):
            held = breaks.get(address + 4 * place)
            if held is not None and not (inlines and held.text):
                return
            try:
                found = self._decode(address + 4 * place, pages.words[(offset >> 2) + place])
            except Fault:
                return
            yield found

    def _watch(self, address: int, pages: Pages, offset: int, length: int) -> None:
        """Be told when the bytes change of which a run or a block was made."""
        base = address - offset
        if base not in self._sources:
            self._sources.add(base)
            pages.on_change(partial(self._forget, base))
        page = offset >> SHIFT
        self._watched.setdefault(base + (page << SHIFT), set()).add(address)
        pages.hold(offset, length)

    def _forget(self, base: int, page: int) -> None:
        """Code of the page has changed, perhaps not all; it is compared before it is used."""
        self.changes += 1
        for address in self._watched.pop(base + (page << SHIFT), ()):
            for kept, longest in ((self.runs, LONGEST), (self.steps, 1)):
                run = kept.pop(address, None)
                if run is not None:
                    self._stale[longest, address] = run
            block = self.blocks.pop(address, None)
            if block is not None:
                self._stale_blocks[address] = block
            self._heat.pop(address, None)
            self._left.pop(address, None)
            self._cuts.pop(address, None)

    def _bind(self, address: int, pages: Pages, offset: int, longest: int) -> Run:
        """Make the run from `address` to what ends it, to the end of the page, or `longest` long.

        What waits, shares or cannot be decoded is not part of it; if that comes
        first, the run is just a leave.
        """
        hart = self.hart
        acts: list[Act] = []
        costs = [0]
        uses, lasts, first = [0], [0], 0
        end: Decision | None = None
        for found in self._decoded(address, pages, offset, longest):
            place = len(acts)
            at = address + 4 * place
            family = found.row.family
            if longest > 1 and hart.probing.of(found):
                break
            if family in ENDS:
                end = _decision(hart, found, at, place, costs[-1])
                break
            if family not in ACTS:
                break
            acts.append(_act(hart, found, at, place))
            costs.append(costs[-1] + hart.timing.of_family[family])
            units = hart.uses(found.row)
            if units and not uses[-1]:
                first = costs[-2]
            uses.append(uses[-1] + units)
            lasts.append(costs[-1] if units else lasts[-1])
        if end is None:
            if not acts:
                return Run((), _leaving, 0, 0, (0,), pages.read(offset, 4), Uses((0,), (0,), 0))
            length = len(acts)
            end = _always((address + 4 * length, costs.pop()))
        else:
            length = len(acts) + 1
            uses.append(uses[-1])
            lasts.append(lasts[-1])
        code = pages.read(offset, 4 * length)
        used = Uses(tuple(uses), tuple(lasts), first)
        return Run(tuple(acts), end, costs[-1], length, tuple(costs), code, used)


def _holds(start: int, code: bytes, address: int) -> bool:
    """Whether code that begins at `start` was made of the instruction at an address."""
    return start <= address < start + max(len(code), 4)


def _drop_at(kept: dict[int, Any], address: int) -> None:
    """Drop the runs or blocks that hold the instruction at an address."""
    for start in [x for x, item in kept.items() if _holds(x, item.code, address)]:
        del kept[start]


def _places(found: Decoded) -> dict[str, int]:
    """The operands as parameters: a register that is written has its place, x0 the sink."""
    values = dict(found.values)
    if values.get("rd") == 0:
        values["rd"] = SINK
    return values


def _act(hart: Hart, found: Decoded, address: int, place: int) -> Act:
    """The act of an instruction that goes on with the next one."""
    values = _places(found)
    more: dict[str, object] = {}
    if found.row.family in ("load", "store"):
        more = {"local": hart.device.memory.local, "place": place}
    elif "pc" in found.row.reads.split():
        more = {"pc": address}
    act: Act = semantics.meaning(semantics, found.row.mnemonic)(hart.x, **values, **more)
    return act


def _decision(hart: Hart, found: Decoded, address: int, place: int, before: int) -> Decision:
    """The act of a branch or jump, at whose begin the run has cost `before`."""
    make: Callable[..., Decision] = semantics.meaning(semantics, found.row.mnemonic)
    values = _places(found)
    timing = hart.timing
    target = address + values.pop("target", 0) & 0xFFFF_FFFF
    following = address + 4 & 0xFFFF_FFFF
    if found.row.family == "branch":
        fallen: Exit = (following, before + timing.alu)
        taken: Exit = (target, before + timing.taken)
        decide = make(hart.x, **values, taken=taken, fallen=fallen)
        return _guarded(decide, taken, place) if target & 3 else decide
    return make(hart.x, **values, **_jump(found.row.syntax, target), link=following, leave=place,
                cost=before + timing.taken)  # fmt: skip


def _jump(syntax: str, target: int) -> Mapping[str, int]:
    """The address of a jump that names one."""
    return {"target": target} if "target" in syntax else {}


def _always(exit_: Exit) -> Decision:
    return lambda: exit_


def _leaving() -> Exit:
    raise Leave(0)


def _guarded(decide: Decision, taken: Exit, place: int) -> Decision:
    """A branch to a target that cannot be: it leaves when it is taken."""

    def act() -> Exit:
        chosen = decide()
        if chosen is taken:
            raise Leave(place)
        return chosen

    return act
