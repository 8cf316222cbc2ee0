"""Shows an editor the progress of a run that takes longer than a second, with progress events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

APART = 1.0  # seconds before the first event, and between two


class Progress:
    """The progress of a run: `with progress: ... progress.update("running", cycle)`.

    `notify(event, body)` sends an event to the editor.
    """

    def __init__(self, notify: Callable[[str, Mapping[str, Any]], object]) -> None:
        self._notify = notify
        self._runs = 0  # number of runs with progress so far; it names the events
        self._is_shown = False
        self._last = 0.0  # when the run began, or the last event was sent

    def __enter__(self) -> None:
        self._is_shown, self._last = False, monotonic()

    def update(self, what: str, cycle: int) -> None:
        """Report that the run is at `cycle`; `what` is its activity, such as "going back"."""
        if monotonic() - self._last < APART:
            return
        self._last = monotonic()
        message = f"{what}, cycle {cycle:,}"
        if self._is_shown:
            self._notify("progressUpdate", {"progressId": self._id(), "message": message})
        else:
            self._is_shown = True
            self._runs += 1
            body = {"progressId": self._id(), "title": "macaw", "message": message}
            self._notify("progressStart", body)

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            self._notify("progressEnd", {"progressId": self._id()})

    def _id(self) -> str:
        return f"run {self._runs}"
