"""A trace block with the memory that it spills to."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from macaw.emu.trace import TraceBlock
from macaw.isa.codec import unpack
from macaw.isa.trace import OCCURRENCES, RECORD

AREA = 0x8000_1000


@dataclass
class TraceMachine:
    """A trace block, and the memory into which it writes its records."""

    groups: int = 4
    recording: bool = True
    spilled: list[tuple[int, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        config = {"trace.groups": self.groups, "trace.recording": self.recording}
        self.block = TraceBlock(2, "vc", config, lambda at, data: self.spilled.append((at, data)))

    def set(self, **parameters: int) -> TraceMachine:
        for name, value in parameters.items():
            self.block.write(f"trace_{name}", value)
        return self

    def auto(self, records: int = 1000, **parameters: int) -> TraceMachine:
        """Start auto mode with room for `records` records; time counts from 0."""
        self.set(mode=1, spill=AREA, spill_end=AREA + records * RECORD.size, **parameters)
        self.block.start(0)
        return self

    def run(self, count: int, cycles: int = 10) -> TraceMachine:
        """Execute `count` instructions of `cycles` cycles each, one after another."""
        for i in range(count):
            number = self.block.begin(cycles * i)
            self.block.end(cycles * (i + 1), number)
        return self

    def records(self) -> list[dict[str, int]]:
        """The spilled records; asserts that they are adjacent in memory."""
        assert [at for at, _ in self.spilled] == [
            AREA + RECORD.size * i for i in range(len(self.spilled))
        ]
        return [unpack(RECORD, data) for _, data in self.spilled]


WINDOW_PARAMETERS = st.fixed_dictionaries(
    {
        "begin": st.integers(0, 12),
        "num": st.integers(0, 6),
        "step": st.integers(0, 6),
        "overhead": st.integers(0, 16),
        "loops": st.integers(0, 5),
    }
)

OCCURRENCE_NAMES = [row.name for row in OCCURRENCES[1:]]
