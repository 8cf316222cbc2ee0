"""Writes the reports that tell an editor why the program has stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from macaw.debugger.commands.text import stop_lines
from macaw.debugger.dap.breakpoints import DATA, EVENTS, FUNCTIONS, INSTRUCTIONS

if TYPE_CHECKING:
    from macaw.debugger.dap.breakpoints import EditorPoint
    from macaw.debugger.stops import StopRecord

_REASONS = {
    "start": "entry", "step": "step", "breakpoint": "breakpoint", "watch": "data breakpoint",
    "event": "exception", "fault": "exception", "deadlock": "exception", "exit": "exit",
    "interrupt": "pause", "limit": "goto", "arrived": "step",
}  # fmt: skip
_GROUPS = {
    FUNCTIONS: "function breakpoint", INSTRUCTIONS: "instruction breakpoint",
    DATA: "data breakpoint", EVENTS: "exception",
}  # fmt: skip


def stopped_body(
    stop: StopRecord, thread: int, hits: list[tuple[str, EditorPoint]], reason: str
) -> dict[str, Any]:
    """Return the body of a `stopped` event.

    `thread` is the number of the stopped thread; `hits` are the editor's points that caused the
    stop. A `reason` that is not empty replaces the stop's own reason.
    """
    name = _REASONS[stop.reason]
    if hits and stop.reason in ("breakpoint", "watch", "event"):
        name = _GROUPS.get(hits[0][0], name)
    lines = [line.strip() for line in stop_lines(stop)]
    body: dict[str, Any] = {
        "reason": reason or name, "description": lines[0], "text": "; ".join(lines[1:]),
        "threadId": thread, "allThreadsStopped": True,
    }  # fmt: skip
    return {**body, "hitBreakpointIds": [point.id for _, point in hits]} if hits else body


def exception_body(stop: StopRecord) -> dict[str, Any]:
    """Return the body of the response to `exceptionInfo`."""
    name = stop.reason
    if stop.fault is not None:
        name = stop.fault["kind"]
    elif stop.hits:
        name = stop.hits[0].text
    text = "\n".join(line.strip() for line in stop_lines(stop))
    return {
        "exceptionId": name, "description": text, "breakMode": "always",
        "details": {"message": text, "typeName": name},
    }  # fmt: skip
