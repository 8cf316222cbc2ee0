"""Where values came from: what a core remembers of it while somebody asks (`Core.remember`).

Whoever asks numbers all announcements of a run; an origin says by these numbers what was
before what. A core without origins of its own says only which instruction it was at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Place = tuple[str, int]  # a register: its kind, its number


class Source(NamedTuple):
    """A value that went into another one."""

    what: str  # "weight", "activation", "rs1", ...
    number: int  # it is what was there before the announcement of this number
    memory: tuple[int, int] | None = None  # address, bytes
    place: Place | None = None  # or a register of the same core
    origin: Origin | None = None  # or the result of another step
    value: Any = None
    # It says how the step works: `origin` is who set it, `memory` where it stood.
    setting: bool = False


@dataclass
class Origin:
    """A step that made a value: which instruction, of what."""

    number: int  # of the announcements that were before it
    time: int
    what: str  # in words: "mac", "transfer 3"
    address: int | None = None  # of its instruction
    by: str = ""  # the core that asked for it, if it is another one
    value: Any = None
    sources: Callable[[], Iterator[Source]] = field(default=lambda: iter(()))


class Origins:
    """What one core remembers. `number()` is how many announcements there were."""

    def __init__(self, number: Callable[[], int]) -> None:
        self.number = number

    @property
    def kept(self) -> int:
        """How many steps it keeps beside announcements."""
        return 0

    def heard(self, kind: str, time: int, values: dict[str, Any]) -> None:
        """Take an announcement of the core, right when it comes; it has the number `number()`."""

    def written(self, number: int, address: int, size: int) -> Iterator[Origin]:
        """What made the bytes that the core wrote in the announcement of that number."""
        return iter(())

    def made(self, place: Place, before: int) -> Origin | None:
        """What made the value of a register that it had before the announcement of that number."""
        return None
