"""Origins: the steps that made values, which a core records for the debugger (`Core.remember`).

The debugger numbers all announcements of a run; these numbers order origins. A core without
origins of its own only shows which instruction it executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A part of a field of a core's declared state: bytes of an array, items of a list."""

    field: str
    first: int = 0
    size: int = 0  # 0: all

    def items(self, size: int, whole: int) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield the items of `size` bytes that lie in it: number, (first byte in it, bytes).

        The field has `whole` bytes.
        """
        end = self.first + (self.size or whole)
        for number in range(self.first // size, -(-end // size)):
            yield number, (number * size - self.first, size)


class WindowPart(NamedTuple):
    """Bytes of an access to a window; `number` is that of its announcement."""

    number: int
    first: int
    size: int


class Source(NamedTuple):
    """A value from which another one was computed."""

    what: str  # "weight", "activation", "rs1", ...
    number: int  # of an announcement: the value is the one before it
    memory: tuple[int, int] | None = None  # address, bytes
    place: Place | None = None  # or a part of the same core's state
    origin: Origin | None = None  # or the result of another step
    value: Any = None
    # Whether it only configures the step: `origin` is the step that set it, `memory` its place.
    setting: bool = False
    window_part: WindowPart | None = None  # or bytes that came through a window of the core


@dataclass
class Origin:
    """A step that made a value: an instruction or a part of one, and its sources."""

    number: int  # of the announcements before it
    time: int  # -1: unknown
    what: str  # in words: "mac", "transfer 3"
    address: int | None = None  # of its instruction
    by: str = ""  # the core that requested it, if it is another one
    value: Any = None
    sources: Callable[[], Iterator[Source]] = field(default=lambda: iter(()))
    # Which of the requested bytes (of a list: items) it made: first, how many; None: all.
    part: tuple[int, int] | None = None


OnMove = Callable[[str, int, int, int], None]  # "read" or "write", time, address, bytes


class Origins:
    """The origins that one core records. `number()` is the number of announcements so far."""

    fields: frozenset[str] = frozenset()  # of the state, whose `makers` it knows
    # Of these, queues: cells never written count as empty, for what was there was moved out.
    clears: frozenset[str] = frozenset()

    def __init__(self, number: Callable[[], int]) -> None:
        self.number = number
        # Called for bytes that the core moves to or from memory without its ports, which announce
        # nothing then.
        self.on_move: OnMove = _ignore_move

    @property
    def step_count(self) -> int:
        """The number of recorded steps that are no announcements."""
        return 0

    def observe(self, kind: str, time: int, values: dict[str, Any]) -> None:
        """Record an announcement of the core when it comes; it has the number `number()`."""

    def writers(self, number: int, address: int, size: int) -> Iterator[Origin]:
        """Yield the steps that made the bytes which the core wrote, as announced by that number."""
        return iter(())

    def outgoing(self, part: WindowPart) -> Iterator[Origin]:
        """Yield the steps that made bytes which left a window of the core."""
        return iter(())

    def display_name(self, place: Place) -> str:
        """Return a name for a part of the state, empty if the field's name will do."""
        return ""

    def makers(self, place: Place, before: int) -> Iterator[Origin]:
        """Yield the steps that made a part of the state, before the announcement of that number."""
        return iter(())


def _ignore_move(kind: str, time: int, address: int, size: int) -> None:
    return
