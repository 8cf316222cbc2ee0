"""What a product costs on an island: cycles from its start to its end, by docs/timing-fim.md.

One block works alone, its banks in lock-step and without the channel: so a handful of times say
all that follows. Rounds are alike; once two of them leave the same times behind, the others take
as long.
"""

from __future__ import annotations

from dataclasses import dataclass

from isa.config import Configuration
from isa.fim_circuit import ARRANGEMENT_NAMES, ARRANGEMENTS, FUNCTION_NAMES, FUNCTIONS, MUL
from isa.fim_islands import TIMINGS, abilities
from lower.errors import LowerError
from lower.fim.tiling import Shape, Tiling, lacks, tilings

_LONG_AGO = -(1 << 40)
_ADD = FUNCTIONS[FUNCTION_NAMES.index("add")].name


@dataclass(frozen=True)
class Choice:
    """A tiling and the cycles it takes."""

    tiling: Tiling
    cycles: int


class _Block:
    """The times of a block: when its next word comes, and what that may have to wait for."""

    def __init__(self, tiling: Tiling, config: Configuration) -> None:
        able = abilities(config, tiling.island)
        self.setting = {row.name: int(config[f"fim.{row.name}"]) for row in TIMINGS}
        self.step = able.divider
        numbers = tiling.shape.numbers
        work = ARRANGEMENTS[tiling.layout].work(numbers.lanes)
        self.passes = -(-work.products // able.lanes)
        self.sum = int(config[f"fim.alu.{_ADD}"])
        product = int(config[f"fim.alu.{FUNCTION_NAMES[MUL]}"])
        self.result = product + work.levels * int(config["fim.alu.tree"]) + self.passes - 1
        self.time = 0
        self.open = False
        self.activated = self.column = self.written = self.alu = self.rz = _LONG_AGO

    def _aligned(self, *times: int) -> int:
        return -(-max(times) // self.step) * self.step

    def mmr(self, count: int = 1) -> None:
        """Words that take one cycle each."""
        self.time += count * self.step

    def act(self) -> None:
        """Open a row; an open one is closed first."""
        setting, at = self.setting, self.time
        if self.open:
            closed = self._aligned(
                at, self.activated + setting["t_ras"], self.written + setting["t_wr"]
            )
            at = closed + setting["t_rp"]
        self.activated = self._aligned(at, self.activated + setting["t_rc"])
        self.open, self.time = True, self.activated + self.step

    def read(self) -> None:
        """Rop from a column."""
        self._column(self.time, "t_rcdrd")

    def multiply(self, count: int, accumulates: bool) -> None:
        """Products of Rop and columns one after the other."""
        more = self.sum if accumulates else 0
        for _ in range(count):
            at = self._column(self._aligned(self.time, self.alu), "t_rcdrd")
            self.alu = at + max(self.passes, more) * self.step
            self.rz = max(self.rz, at + (self.result + more) * self.step)

    def store(self, count: int) -> None:
        """Columns from Rz."""
        for _ in range(count):
            at = self._column(self._aligned(self.time, self.rz), "t_rcdwr")
            self.written = at + self.setting["wl"] + self.setting["burst"]

    def end(self) -> int:
        """The cycle in which the block ends."""
        return self._aligned(self.time, self.rz, self.written)

    def _column(self, begin: int, delay: str) -> int:
        setting = self.setting
        at = self._aligned(begin, self.activated + setting[delay], self.column + setting["t_ccdl"])
        self.column, self.time = at, at + self.step
        return at

    def ages(self) -> tuple[int, ...]:
        """How long ago all was that counts."""
        times = self.activated, self.column, self.written, self.alu, self.rz
        return tuple(time - self.time for time in times)

    def later(self, cycles: int) -> None:
        """Everything so many cycles later."""
        self.time += cycles
        self.activated += cycles
        self.column += cycles
        self.written += cycles
        self.alu += cycles
        self.rz += cycles


def _round(block: _Block, tiling: Tiling) -> None:
    """An item of each bank, word by word as `lower.fim.product` writes it."""
    for row in range(tiling.rows):
        block.act()
        for step in range(tiling.deep if row < tiling.rows - 1 else tiling.last_steps):
            if step < 2 and not row:
                block.mmr()  # accumulate
            block.mmr()  # rz_slot
            for _ in range(tiling.high):
                block.read()
                block.multiply(tiling.wide, accumulates=bool(row or step))
        if tiling.rows > 1 and not row and tiling.deep == 1:
            block.mmr()  # accumulate
    block.mmr()  # rz_slot
    block.act()
    block.store(tiling.slices)


SETUP = 4  # words before the first round: op, arrange, format, rz_step


def cycles(tiling: Tiling, config: Configuration) -> int:
    """Cycles of the tiling's block, from its start to its end."""
    block = _Block(tiling, config)
    block.mmr(SETUP)
    left, before = tiling.rounds, None
    while left:
        begin = block.time
        _round(block, tiling)
        left -= 1
        if block.ages() == before:
            block.later(left * (block.time - begin))
            break
        before = block.ages()
    return block.end()


def best(shape: Shape, config: Configuration, island: int, layout: int) -> Choice:
    """The tiling of least cycles of an island and a layout. Raises `LowerError` if none is."""
    why = lacks(shape, config, island, layout)
    if why:
        raise LowerError(why)
    found = [
        Choice(tiling, cycles(tiling, config)) for tiling in tilings(shape, config, island, layout)
    ]
    if not found:
        raise LowerError(
            f"a product of {shape.m} x {shape.k} x {shape.n} does not fit into island {island}"
            f" by {ARRANGEMENT_NAMES[layout]}",
            "its tiles and results take more rows (fim.rows) or words (fim.instructions)",
        )
    return min(found, key=lambda choice: choice.cycles)


def choices(shape: Shape, config: Configuration) -> list[Choice]:
    """The best of each (island, layout) pair that can do a product, by their cycles."""
    found = []
    for island in range(config["fim.islands"]):
        for layout in range(len(ARRANGEMENTS)):
            try:
                found.append(best(shape, config, island, layout))
            except LowerError:
                continue
    return sorted(found, key=lambda choice: choice.cycles)
