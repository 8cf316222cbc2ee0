"""Origins: the steps that made values, which a core records for the debugger's `why`.

`Core.remember` starts the recording. The debugger numbers all announcements of a run, and these
numbers order the origins. For a core that records no origins the debugger shows only which
instruction it executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A piece of a field of a core's declared state: some bytes of an array, or items of a list."""

    field: str
    first: int = 0
    size: int = 0  # 0: all

    def items(self, size: int, whole: int) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield the items of `size` bytes that overlap this piece.

        Each result is the number of the item in the field, and a range: the item's first byte
        relative to the piece, and its length. The whole field has `whole` bytes.
        """
        end = self.first + (self.size or whole)
        for number in range(self.first // size, -(-end // size)):
            yield number, (number * size - self.first, size)


class WindowPart(NamedTuple):
    """Some bytes of an access to a window; `number` is the number of the access's announcement."""

    number: int
    first: int
    size: int


class Extent(NamedTuple):
    """Some bytes in memory, as the value of a setting: what an address in it points to."""

    address: int
    size: int = 0  # 0: only the address is meant


class Source(NamedTuple):
    """A value that a step used to compute another value."""

    what: str  # "weight", "activation", "rs1", ...
    number: int  # of an announcement: the value is the one before it
    memory: tuple[int, int] | None = None  # address, bytes
    place: Place | None = None  # or a part of the same core's state
    origin: Origin | None = None  # or the result of another step
    # A number, text, bytes in hexadecimal; of a setting also a mapping of numbers and `Extent`s.
    value: Any = None
    # Whether it only configures the step: `origin` is the step that set it, `memory` its place.
    setting: bool = False
    window_part: WindowPart | None = None  # or bytes that came through a window of the core


@dataclass
class Origin:
    """A step that made a value, with the values that it used.

    The step is an instruction, a part of an instruction, or a transfer.
    """

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
    """The record of all origins of one core.

    `number()` returns the number of announcements so far.
    """

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
        """The number of recorded steps that were not announced."""
        return 0

    def observe(self, kind: str, time: int, values: dict[str, Any]) -> None:
        """Record an announcement of the core, which is being made and has the number `number()`."""

    def writers(self, number: int, address: int, size: int) -> Iterator[Origin]:
        """Yield the steps that made the `size` bytes which the core wrote to `address`.

        `number` is the number of the announcement of that write.
        """
        return iter(())

    def without_effect(self, address: int, size: int) -> Iterator[Origin]:
        """Yield steps that may have been meant to write these bytes, but wrote nothing."""
        return iter(())

    def outgoing(self, part: WindowPart) -> Iterator[Origin]:
        """Yield the steps that made the bytes which other cores read from a window of this core."""
        return iter(())

    def display_name(self, place: Place) -> str:
        """Return what users call a piece of the state; empty if the field's own name is enough."""
        return ""

    def makers(self, place: Place, before: int) -> Iterator[Origin]:
        """Yield the steps that made a piece of the state as it was before announcement `before`."""
        return iter(())


def _ignore_move(kind: str, time: int, address: int, size: int) -> None:
    return
