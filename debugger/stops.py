"""Records of stops: why a run has stopped, as plain data from which text and JSON are made."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

ARRIVED = "arrived"
# after a stop for one of these reasons, the program cannot continue
ENDS = ("exit", "fault", "deadlock")
REASONS = {
    "start": "the program is loaded, or going back has reached the start",
    "step": "the steps are done",
    "breakpoint": "before an instruction with a breakpoint",
    "watch": "a watched value has changed, or was read",
    "event": "a caught event has happened",
    "fault": "the program did something that the machine refuses",
    "deadlock": "every running core waits, and nothing can end it",
    "exit": "the program has ended",
    "interrupt": "a stop was requested",
    "limit": "the requested cycle is reached",
    ARRIVED: "the requested place is reached",
}


class SessionError(ValueError):
    """Raised if a call of a session cannot be executed; the message is for the user."""


@dataclass(frozen=True)
class Where:
    """Where a core is: the address of its instruction, the source position and the symbol."""

    core: str
    address: int | None = None
    file: str | None = None
    line: int | None = None
    symbol: str | None = None  # such as `loop+8`
    layer: str | None = None  # of a network: the name of the layer whose code it is


@dataclass(frozen=True)
class Wait:
    """The wait of a core: for what, since which cycle, and for which other cores."""

    core: str
    on: str
    since: int
    cores: tuple[str, ...]
    address: int | None


@dataclass(frozen=True)
class Hit:
    """A point (breakpoint, watch or event) that has stopped a run.

    `number`, `kind` and `text` are those of the point, `hits` is how often it was hit so far. `by`
    is the core or place that caused the stop. A watch has `old` and `new`, the value before and
    after; an event or access has `values`, the fields of its announcement.
    """

    number: int
    kind: str  # an item of `macaw.debugger.point.KINDS`; at the end of a step "step" or ARRIVED
    text: str  # the point's location, expression or event
    hits: int = 0
    by: str = ""
    old: Any = None
    new: Any = None
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StopRecord:
    """Why and where a run has stopped. Times are device cycles.

    All acts before (`cycle`, `turn`) in the order of (time, core number) are done. For a step,
    `done` is how many of the requested steps are done, and `in_call` says whether the last
    instruction of a step in a range was a call. `at_start` is true if going back has reached the
    start of the run.
    """

    reason: str  # a key of REASONS
    cycle: int
    turn: int = 0
    message: str = ""
    where: Where | None = None  # the core that stopped, or else the focused one
    hits: tuple[Hit, ...] = ()
    waits: tuple[Wait, ...] = ()  # the waits in a deadlock
    exit_code: int | None = None
    fault: dict[str, Any] | None = None  # kind, message, values
    done: int = 0
    at_start: bool = False
    in_call: bool | None = None

    def json(self) -> dict[str, Any]:
        """Return the record as values for JSON, without empty fields."""
        record: dict[str, Any] = plain(self)
        return record


@dataclass(frozen=True)
class EditRecord:
    """A change of state that the user has made at the present position.

    `commands` are the commands with which a user can repeat the change; empty if none can.
    """

    cycle: int
    turn: int
    commands: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return the record as values for JSON, without empty fields."""
        record: dict[str, Any] = plain(self)
        return record


def reason_of(hits: tuple[Hit, ...]) -> str:
    """Return the key of `REASONS` for a stop by points, from the kind of the first of `hits`."""
    kind = hits[0].kind
    if kind.endswith("watch"):
        return "watch"
    return {"catch": "event", "step": "step", ARRIVED: ARRIVED}.get(kind, "breakpoint")


def plain(value: Any) -> Any:
    """Return a value in types that JSON has: arrays as lists, records as objects.

    The objects lack the empty fields of the records. NumPy's numbers become plain numbers;
    infinities and NaN become text; bytes become hexadecimal text.
    """
    if is_dataclass(value) and not isinstance(value, type):
        items = ((row.name, plain(getattr(value, row.name))) for row in fields(value))
        return {name: item for name, item in items if item not in (None, "", [], {})}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return value
