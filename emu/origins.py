"""Where values came from: what a core remembers of it while somebody asks (`Core.remember`).

Whoever asks numbers all announcements of a run; an origin says by these numbers what was
before what. A core without origins of its own says only which instruction it was at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Place(NamedTuple):
    """Some of a field of a core's declared state: bytes of an array, items of a list."""

    field: str
    first: int = 0
    size: int = 0  # 0: all

    def items(self, size: int, whole: int) -> Iterator[tuple[int, tuple[int, int]]]:
        """The items of `size` bytes, of a field of `whole`, that lie in it: number, its part."""
        end = self.first + (self.size or whole)
        for number in range(self.first // size, -(-end // size)):
            yield number, (number * size - self.first, size)


class Passed(NamedTuple):
    """Bytes of the access, to a window, that was the announcement of a number."""

    number: int
    first: int
    size: int


class Source(NamedTuple):
    """A value that went into another one."""

    what: str  # "weight", "activation", "rs1", ...
    number: int  # it is what was there before the announcement of this number
    memory: tuple[int, int] | None = None  # address, bytes
    place: Place | None = None  # or some of the same core's state
    origin: Origin | None = None  # or the result of another step
    value: Any = None
    # It says how the step works: `origin` is who set it, `memory` where it stood.
    setting: bool = False
    passed: Passed | None = None  # or what came through a window of the core


@dataclass
class Origin:
    """A step that made a value: which instruction, of what."""

    number: int  # of the announcements that were before it
    time: int  # -1: at no certain time
    what: str  # in words: "mac", "transfer 3"
    address: int | None = None  # of its instruction
    by: str = ""  # the core that asked for it, if it is another one
    value: Any = None
    sources: Callable[[], Iterator[Source]] = field(default=lambda: iter(()))
    # What of the bytes (of a list: items) that were asked for it made: first, how many; None: all.
    part: tuple[int, int] | None = None


Told = Callable[[str, int, int, int], None]  # "read" or "write", time, address, bytes


class Origins:
    """What one core remembers. `number()` is how many announcements there were."""

    fields: frozenset[str] = frozenset()  # of the state, of which `made` can tell
    # Of these, those in which there is nothing where nobody made it: what was there was moved out.
    clears: frozenset[str] = frozenset()

    def __init__(self, number: Callable[[], int]) -> None:
        self.number = number
        # Whoever asks hears here of what the core moves to and from memory by itself, for which
        # its ports announce nothing; it is as if that had been announced.
        self.told: Told = _nobody

    @property
    def kept(self) -> int:
        """How many steps it keeps beside announcements."""
        return 0

    def heard(self, kind: str, time: int, values: dict[str, Any]) -> None:
        """Take an announcement of the core, right when it comes; it has the number `number()`."""

    def written(self, number: int, address: int, size: int) -> Iterator[Origin]:
        """What made the bytes that the core wrote in the announcement of that number."""
        return iter(())

    def given(self, passed: Passed) -> Iterator[Origin]:
        """What made the bytes that somebody took from a window of the core."""
        return iter(())

    def called(self, place: Place) -> str:
        """What people call some of the state, where its field does not say it well."""
        return ""

    def made(self, place: Place, before: int) -> Iterator[Origin]:
        """What made some of the state, as it was before the announcement of that number."""
        return iter(())


def _nobody(kind: str, time: int, address: int, size: int) -> None:
    return
