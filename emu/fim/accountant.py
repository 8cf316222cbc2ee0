"""The accountant of an island: it charges each cycle of each bank by the activity of its block.

A block announces three kinds of steps: a word is delayed, a word begins to wait, a word is done.
Only one block takes a step at a time. So the accountant finds the causes of a step's cycles from
the island's counters of waits: each has grown by the cycles of one cause since the previous step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from macaw.emu.accountant import Accountant
from macaw.emu.charges import Charge
from macaw.emu.core import Core, Event
from macaw.emu.fim import stalls
from macaw.emu.fim.core import IslandCore
from macaw.emu.fim.state import Block

# By mnemonic: the cause of all cycles of a word. Words of other mnemonics use columns or compute.
_WORDS = {"act": "rows", "pre": "rows", **dict.fromkeys(
    ("mmr", "loop", "endloop", "end", "lock", "unlock", "trace_begin", "trace_end"), "issue"
)}  # fmt: skip
_WAITS = {"lock": "locks", "buffer": "data"}  # by the kind of what a block waits for
# By constraint of the memory: the cause of the cycles in which a command waited for it.
_CONSTRAINTS = {
    **dict.fromkeys(
        ("t_rcd", "t_rp", "t_ras", "t_rc", "t_rrd", "t_faw", "t_wr", "t_rtp", "refresh"), "rows"
    ),
    **dict.fromkeys(("t_ccd", "t_wtr", "t_rtw"), "banks"),
    "channel": "channel",
}
_COLUMN = "t_column"  # the constraint for the way of a column to the circuits
_SENT = "operations that the host sent"
Parts = Iterable[tuple[str, int]]  # causes with their cycles


def _of_operation(fresh: Mapping[str, int], step: int) -> Parts:
    """Yield the causes of the cycles of one operation, as pairs (cause, cycles) in order of time.

    `fresh` has the growth of the island's counters. The command of the operation takes `step`
    cycles.
    """
    yield "loads", fresh["cycles_pull"]
    yield "latency", fresh[_COLUMN]
    yield "results", fresh["cycles_alu"]
    yield from _of_memory(fresh)
    yield "work", step


def _of_memory(fresh: Mapping[str, int]) -> Parts:
    """Return the cycles in which commands waited for the DRAM, as pairs (cause, cycles).

    `fresh` has the growth of the island's counters.
    """
    return [(cause, fresh[name]) for name, cause in _CONSTRAINTS.items()]


class _Progress:
    """The accountant's record of one block. All cycles of the block before `at` are charged."""

    def __init__(self, block: Block | None, banks: int, at: int) -> None:
        self.block, self.banks, self.at = block, banks, at  # no block: an operation of the host
        self.ended = False
        self.cause = ""  # the cause of the wait in which the block is; empty if it does not wait
        self.whom = ""
        self.latest: list[tuple[Charge, int]] = []  # the charges of the latest step


class IslandAccountant(Accountant):
    """Charges each cycle of each bank of an island to a cause.

    One cycle of the island is charged as work for each operation of a word `fim`, and for each
    column that a `push` or `pull` moves. The other cycles of these words are charged as waits.
    """

    core: IslandCore
    mendable = ("rows", "issue")

    def __init__(self, core: IslandCore) -> None:
        super().__init__(core, core.geometry.banks)
        self.blocks: list[_Progress] = []
        self.counts = self._counts()
        self.first = self.last = -1  # when the first step of a block began, and the last ended
        # spans of the cycles of blocks: begin, end, number of banks, charge
        self.spans: list[tuple[int, int, int, Charge]] = []

    def _counts(self) -> dict[str, int]:
        return {**self.core.counts, **self.core.dram.waits}

    def hear(self, event: Event) -> None:
        """Charge the cycles of the step of a block, or of the host's operation, in `event`.

        Other events are ignored.
        """
        if event.kind not in ("delayed", "advanced", "operated"):
            return
        counts = self._counts()
        fresh = {name: count - self.counts[name] for name, count in counts.items()}
        self.counts, since = counts, int(event.values["since"])
        if event.kind == "operated":
            self._operated(int(event.values["banks"]), since, int(event.values["until"]), fresh)
            return
        block = self.core.blocks[int(event.values["block"])]
        one = self._progress(block, since)
        if block.waiting:
            self._begin_wait(one, block)
            return
        one.latest.clear()
        address = int(event.values.get("address", block.pc))
        self._charge_block(one, one.cause or "latency", since, address, one.whom)
        one.cause = one.whom = ""
        if event.kind == "delayed":
            self._charge_parts(one, self._delay(block, one.at, fresh), block.time, address)
            return
        until = block.time if block.running else since + self.core.divider
        self._charge_parts(one, self._word(address, until - one.at, fresh), until, address)
        one.ended = not block.running
        self.last = max(self.last, until)

    def _progress(self, block: Block, since: int) -> _Progress:
        """Return the record of a block, which says up to which cycle the block is charged.

        If there is no record, make one that starts in cycle `since`.
        """
        for one in self.blocks:
            if one.block is block:
                return one
        return self._begin(_Progress(block, len(block.banks), since))

    def _begin(self, one: _Progress) -> _Progress:
        self.blocks = [other for other in self.blocks if not other.ended or other.at > one.at]
        self.blocks.append(one)
        self.first = one.at if self.first < 0 else min(self.first, one.at)
        return one

    def _operated(self, banks: int, since: int, until: int, fresh: dict[str, int]) -> None:
        """Charge the cycles `since` to `until` - 1 of an operation that the host sent to banks.

        `banks` is the number of these banks. `fresh` has the growth of the island's counters.
        """
        one = self._begin(_Progress(None, banks, since))
        one.ended = True
        self._charge_parts(one, _of_operation(fresh, self.core.divider), until, None)
        self.last = max(self.last, until)

    def _begin_wait(self, one: _Progress, block: Block) -> None:
        """Record the cause of a block's wait, and the names of the blocks that can end the wait.

        `one` is the record of the block, in which the method stores both.
        """
        parts = stalls.unit(self.core, block.banks[0]).parts
        names = ", ".join(name for name, _ in parts)
        one.cause, one.whom = _WAITS[block.key.partition(" ")[0]], names or block.key

    def _delay(self, block: Block, at: int, fresh: dict[str, int]) -> Parts:
        """Return the causes of a block's delay from cycle `at` on, as pairs (cause, cycles).

        The block cannot execute its next word yet. `fresh` has the growth of the island's counters.
        """
        if self.core.program.word(block.pc).row.mnemonic == "end":
            results = max(block.rz_ready, block.columns_ready)
            return [("results", self.core.aligned(results) - at)]
        return [("loads", fresh["cycles_pull"]), ("results", fresh["cycles_alu"])]

    def _word(self, address: int, cycles: int, fresh: dict[str, int]) -> Parts:
        """Return the causes of the `cycles` of the word at `address`, as pairs (cause, cycles).

        `fresh` has the growth of the island's counters.
        """
        mnemonic, divider = self.core.program.word(address).row.mnemonic, self.core.divider
        if mnemonic in _WORDS:
            return [(_WORDS[mnemonic], cycles)]
        if mnemonic == "fim":
            return _of_operation(fresh, divider)
        columns = fresh["pushed" if mnemonic == "push" else "pulled"]
        return [*_of_memory(fresh), ("work", columns * divider)]

    def _charge_parts(self, one: _Progress, parts: Parts, until: int, address: int | None) -> None:
        """Charge a block's cycles before `until` to the causes in `parts`, the rest as latency.

        `one` is the record of the block, `address` the address of its word.
        """
        for cause, cycles in parts:
            self._charge_block(one, cause, min(one.at + max(cycles, 0), until), address)
        self._charge_block(one, "latency", until, address)

    def _charge_block(
        self, one: _Progress, cause: str, until: int, address: int | None, whom: str = ""
    ) -> None:
        """Charge a block's cycles before `until` to one cause, once for each of its banks.

        `one` is the record of the block, `address` the address of its word. `whom` is what the
        block waits for.
        """
        if until > one.at:
            whom = whom if one.block is not None else _SENT
            charge, count = Charge(cause, address, whom), (until - one.at) * one.banks
            self._charge(charge, count)
            one.latest.append((charge, count))
            if one.block is not None:
                self.spans.append((one.at, until, one.banks, charge))
            one.at = until

    def close(self, cycles: int) -> None:
        for one in self.blocks:
            if one.block is not None and not one.ended:
                self._charge_block(one, one.cause or "latency", cycles, one.block.pc, one.whom)
                self.last = cycles
            self._take_back(one.latest, (one.at - cycles) * one.banks)
        idle = cycles * self.units - sum(self.charges.values())
        first = cycles if self.first < 0 else self.first
        before, tail = first * self.units, max(cycles - max(self.last, first), 0) * self.units
        before = min(before, idle)
        tail = min(tail, idle - before)
        self._charge(Charge("before"), before)
        self._charge(Charge("tail"), tail)
        self._charge(Charge("between"), idle - before - tail)
        self._log_blocks()
        self.at = cycles

    def _log_blocks(self) -> None:
        """Write the charges of the blocks to the island's log, which shows them over time.

        Operations that the host sent are left out, because they are in the log of the host. Between
        two changes, the cycles are divided among the present charges of all blocks, in proportion
        to the banks of each block. Charges that are waits for data (`Charge.is_wait`) get cycles
        only if there are no other charges at this time.
        """
        changes: dict[int, list[tuple[int, Charge]]] = {}
        for begin, end, banks, charge in self.spans:
            changes.setdefault(begin, []).append((banks, charge))
            changes.setdefault(end, []).append((-banks, charge))
        banks_at: dict[Charge, int] = {}
        times = sorted(changes)
        for time, until in zip(times, [*times[1:], 0], strict=False):
            for banks, charge in changes[time]:
                banks_at[charge] = banks_at.get(charge, 0) + banks
                if not banks_at[charge]:
                    del banks_at[charge]
            if banks_at:
                at_work = {x: banks for x, banks in banks_at.items() if not x.is_wait}
                self.log.divide(time, until, at_work or banks_at)
            else:
                self.log.add(time, None)


def make(core: Core) -> Accountant:
    """Return a new accountant of an island."""
    assert isinstance(core, IslandCore)
    return IslandAccountant(core)
