"""The accountant of an island: what the block of each bank did in each cycle."""

from __future__ import annotations

from macaw.emu.accountant import Accountant
from macaw.emu.charges import Charge
from macaw.emu.core import Core, Event
from macaw.emu.fim.core import IslandCore
from macaw.emu.fim.state import Block

# By mnemonic: the cause of the cycles of a word. Words of other mnemonics compute or move columns.
_CAUSES = {"act": "rows", "pre": "rows", **dict.fromkeys(
    ("mmr", "loop", "endloop", "end", "lock", "unlock", "trace_begin", "trace_end"), "issue"
)}  # fmt: skip
_WAITS = {"lock": "locks", "buffer": "data"}  # by the kind of what a block waits for


class _Progress:
    """The state of a block when it was charged last. Its cycles before `at` are charged."""

    def __init__(self, block: Block) -> None:
        self.block, self.banks, self.at = block, len(block.banks), block.time
        self.ended = False
        self.key = ""  # what it waits for
        self.latest: list[tuple[Charge, int]] = []  # the charges of the latest word
        self.look()

    def look(self) -> None:
        """Take note of the block's present word."""
        self.pc, self.moment = self.block.pc, (self.block.moment, self.block.repeat)

    @property
    def has_acted(self) -> bool:
        """Whether the block has done its word, or a repeat of it, since `look`."""
        block = self.block
        return not block.running or self.moment != (block.moment, block.repeat)


class IslandAccountant(Accountant):
    """Charges the cycles of an island, times its banks.

    A word that computes or moves columns is at work for one cycle for each of its commands.
    """

    core: IslandCore

    def __init__(self, core: IslandCore) -> None:
        super().__init__(core, core.geometry.banks)
        self.blocks: list[_Progress] = []
        self.counts = dict(core.counts)
        self.first = self.last = -1  # cycles of the first work of a block, and after the last
        self.operations = 0  # of blocks
        # begin, end, banks and charge of the cycles of blocks
        self.spans: list[tuple[int, int, int, Charge]] = []

    def hear(self, event: Event) -> None:
        if event.kind == "instruction":
            block = self.core.blocks[int(event.values["block"])]
            if not any(one.block is block for one in self.blocks):
                self.blocks.append(_Progress(block))
                self.first = block.time if self.first < 0 else self.first

    def acted(self) -> None:
        """Charge what each block has done in this act, which took place in one cycle."""
        core, time = self.core, self.core.device.cycle
        fresh = {name: count - self.counts[name] for name, count in core.counts.items()}
        self.counts = dict(core.counts)
        for one in self.blocks:
            block = one.block
            if one.has_acted and not one.ended:
                one.latest.clear()
                self._wait(one, time)
                self._word(one, block.time if block.running else time + core.divider, fresh)
                one.ended = not block.running
                one.look()
            one.key = block.key
        self.blocks = [one for one in self.blocks if not one.ended or one.at > time]

    def _charge_block(
        self, one: _Progress, cause: str, until: int, address: int | None, whom: str = ""
    ) -> None:
        """Charge the cycles of a block before `until`, times its banks."""
        if until > one.at:
            charge, count = Charge(cause, address, whom), (until - one.at) * one.banks
            self._charge(charge, count)
            self.watch(one.at, until, charge, count)
            one.latest.append((charge, count))
            self.spans.append((one.at, until, one.banks, charge))
            one.at = until

    def _wait(self, one: _Progress, time: int) -> None:
        """Charge the cycles before `time`, in which the block waited to do its word."""
        kind = one.key.partition(" ")[0]
        self._charge_block(one, _WAITS.get(kind, "results"), time, one.pc, one.key)

    def _word(self, one: _Progress, until: int, fresh: dict[str, int]) -> None:
        """Charge the cycles before `until`, in which the block did its word.

        `fresh` has what all blocks have counted in this act.
        """
        mnemonic = self.core.program.word(one.pc).row.mnemonic
        divider, pc = self.core.divider, one.pc
        if mnemonic in _CAUSES:
            self._charge_block(one, _CAUSES[mnemonic], until, pc)
        elif mnemonic == "fim":
            self.operations += one.banks
            wait = min(fresh["cycles_pull"], max(until - one.at - divider, 0))
            fresh["cycles_pull"] -= wait
            self._charge_block(one, "loads", one.at + wait, pc)
            wait = min(fresh["cycles_alu"], max(until - one.at - divider, 0))
            fresh["cycles_alu"] -= wait
            self._charge_block(one, "results", one.at + wait, pc)
            self._charge_block(one, "work", min(one.at + divider, until), pc)
        else:
            columns = min(fresh["pushed" if mnemonic == "push" else "pulled"], one.banks)
            self._charge_block(one, "work", min(one.at + columns * divider, until), pc)
        self._charge_block(one, "latency", until, pc)
        self.last = max(self.last, until)

    def close(self, cycles: int) -> None:
        core = self.core
        for one in self.blocks:
            if not one.ended:
                self._wait(one, cycles)
                self.last = cycles
            self._take_back(one.latest, (one.at - cycles) * one.banks)
        host = (core.counts["operations"] - self.operations) * core.divider
        self._charge(Charge("work", None, "operations that the host sent"), host)
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
        """Log the charge of most banks of each cycle; operations that the host sent are not logged.

        The host's instructions have the cycles of these operations.
        """
        changes: dict[int, list[tuple[int, Charge]]] = {}
        for begin, end, banks, charge in self.spans:
            changes.setdefault(begin, []).append((banks, charge))
            changes.setdefault(end, []).append((-banks, charge))
        banks_at: dict[Charge, int] = {}
        for time in sorted(changes):
            for banks, charge in changes[time]:
                banks_at[charge] = banks_at.get(charge, 0) + banks
                if not banks_at[charge]:
                    del banks_at[charge]
            self.log.add(time, max(banks_at, key=banks_at.__getitem__, default=None))


def make(core: Core) -> Accountant:
    """Return a new accountant of an island."""
    assert isinstance(core, IslandCore)
    return IslandAccountant(core)
