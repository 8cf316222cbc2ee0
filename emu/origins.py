"""Origins: the steps that made values, which a core records for the debugger's `why`.

`Core.remember` starts the recording. The debugger numbers all announcements of a run, and these
numbers order the origins in time. For a core that records no origins the debugger shows only which
instruction the core executed.

A *setting* is here a value that only configures a step (`Source.setting`), not one that the step
computes with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any

from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.typed_records import NamedTuple

if TYPE_CHECKING:
    import numpy as np


class UnrecordedError(Exception):
    """Raised if an answer may need a step from before the start of a partial record."""


class Place(NamedTuple):
    """A part of a field of a core's declared state: some bytes of an array, or items of a list."""

    field: str  # the field's name
    first: int = 0  # the first byte of the part, or the first item
    size: int = 0  # bytes or items; 0: to the end of the field
    # the NumPy type of the number in these bytes; None: that of the field's elements
    dtype: np.dtype[Any] | None = None

    def items(self, size: int, whole: int) -> Iterator[tuple[int, tuple[int, int]]]:
        """Divide the field into items of `size` bytes, and yield those that overlap this part.

        Each result is (number of the item in the field, (first byte, `size`)). The first byte of
        the item counts from the start of this part. The whole field has `whole` bytes.
        """
        end = self.first + (self.size or whole)
        for number in range(self.first // size, -(-end // size)):
            yield number, (number * size - self.first, size)


class WindowPart(NamedTuple):
    """Some bytes of an access to a window; `number` is the announcement number of the access."""

    number: int
    first: int  # the first of these bytes, counted from the start of the access
    size: int


class Extent(NamedTuple):
    """An address in a setting (a value that configures a step), and the bytes at this address."""

    address: int
    size: int = 0  # 0: the setting is only the address


class Source(NamedTuple):
    """A value that a step used to compute another value, and where the used value was stored.

    `what` is its role for the step ("weight", "rs1"). It was either in memory (`memory`: address,
    number of bytes), or in the state of the same core (`place`), or the result of another step
    (`origin`), or it came through a window of the core (`window_part`). In memory or state, it is
    the last value before the announcement with the number `number`. If `setting` is true, the value
    only configures the step.
    """

    what: str
    number: int
    memory: tuple[int, int] | None = None
    place: Place | None = None
    origin: Origin | None = None
    # A number, a text, or bytes in hexadecimal; for a setting also a mapping from names to numbers
    # and `Extent`s.
    value: Any = None
    # Of a setting, `origin` is the step that set it, or `memory` is where it was.
    setting: bool = False
    # Whether the core read the memory without an announcement, directly before `number`.
    at_once: bool = False
    window_part: WindowPart | None = None


@dataclass
class Origin:
    """A step that made a value, with the values that the step used.

    The step is an instruction, a part of an instruction, or a transfer. `number` is the number of
    announcements before it. `sources()` returns the values that it used. If the step made only some
    of the requested bytes (or items of a list), `part` is (index of the first one, number of them).
    If it made a number of another type than the field's elements, `dtype` is this type.
    """

    number: int
    time: int  # the cycle; -1: unknown
    what: str  # a phrase, such as "mac" or "transfer 3"
    address: int | None = None  # the address of its instruction
    by: str = ""  # the core that requested the step, if another core did
    value: Any = None
    sources: Callable[[], Iterator[Source]] = field(default=lambda: iter(()))
    part: tuple[int, int] | None = None
    dtype: np.dtype[Any] | None = None


OnMove = Callable[[str, int, int, int], None]  # "read" or "write", time, address, number of bytes


class Origins:
    """The record of the steps that made the values of one core.

    `number()` returns the number of announcements so far. `fields` are the fields of the core's
    state for which `makers` finds steps. Those in `clears` are queues: a cell that no step has
    written counts as empty. Those in `codes` have codes of numbers; the value of an origin is the
    number.
    """

    fields: frozenset[str] = frozenset()
    clears: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    # Whether the record may be partial, that is, start in the middle of a run. A partial record
    # raises `UnrecordedError` if it lacks a step of an answer, at once or when the sources of a
    # step are listed. In a partial record, a source without memory, place and origin has an
    # unrecorded step.
    can_be_partial = True

    def __init__(self, number: Callable[[], int]) -> None:
        self.number = number
        # A function to call for bytes that the core moves to or from memory without its ports,
        # because then no port announces them.
        self.on_move: OnMove = _ignore_move
        self.is_partial = False

    def start_within_run(self) -> None:
        """Make this a partial record, which starts now, in the middle of a run."""
        self.is_partial = True

    def require(self, is_recorded: bool) -> None:
        """Raise `UnrecordedError` if the record is partial and lacks a step that an answer needs.

        `is_recorded` says whether it has the step.
        """
        if self.is_partial and not is_recorded:
            raise UnrecordedError

    @property
    def step_count(self) -> int:
        """The number of steps in this record that the core does not also announce to listeners.

        The debugger counts announced steps itself.
        """
        return 0

    def observe(self, kind: str, time: int, values: dict[str, Any]) -> None:
        """Record an announcement of the kind `kind` that the core is making in cycle `time`.

        `values` are its values; `number()` is its number.
        """

    def writers(self, number: int, address: int, size: int) -> Iterator[Origin]:
        """Yield the steps that made the `size` bytes that the core wrote to `address`.

        The result has the steps of the write with the announcement number `number`.
        """
        return iter(())

    def without_effect(self, address: int, size: int) -> Iterator[Origin]:
        """Yield steps that wrote nothing, but were probably meant to write bytes at `address`.

        An example is a transfer of 0 bytes whose destination is near these `size` bytes.
        """
        return iter(())

    def outgoing(self, part: WindowPart) -> Iterator[Origin]:
        """Yield the steps that made the bytes of `part`, which other cores read from a window."""
        return iter(())

    def display_name(self, place: Place) -> str:
        """Return the name that users see for `place`; empty if they see the field's name."""
        return ""

    def array_size(self, field: str) -> int:
        """Return the size in bytes of `field` if programs fill it by several writes; otherwise 0.

        If a step used bytes of such a field that no step wrote, the program probably has a fault in
        a step that wrote neighbouring bytes. So the debugger shows these steps.
        """
        return 0

    def makers(self, place: Place, before: int) -> Iterator[Origin]:
        """Yield the steps that made the value of `place`, which is a part of the state.

        Steps from announcement number `before` on are ignored.
        """
        return iter(())


def _ignore_move(kind: str, time: int, address: int, size: int) -> None:
    return
