"""A progress bar on standard error, only on a terminal and only after a second."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DELAY = 1.0  # seconds before a bar appears


class Bar:
    """`with Bar("images", 360) as bar: ... bar.advance()`; without a total, a moving bar.

    `bar.note` is a short text behind the bar (a cycle count).
    """

    def __init__(self, what: str, total: int | None = None, *, wanted: bool = True) -> None:
        self.what, self.total = what, total
        self.done, self.note = 0, ""
        self._wanted = wanted and sys.stderr.isatty()
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._shown: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Self:
        if self._wanted:
            self._timer = threading.Timer(DELAY, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._wanted = False
            if self._shown is not None:
                self._shown[0].stop()
                self._shown = None

    def advance(self, count: int = 1, note: str = "") -> None:
        """`count` more are done."""
        self.done += count
        self.note = note or self.note
        if self._shown is not None:
            progress, task = self._shown
            progress.update(task, completed=self.done, note=self.note)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        known = [MofNCompleteColumn(), TimeRemainingColumn()] if self.total else []
        with self._lock:
            if not self._wanted:
                return
            progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                *known,
                TimeElapsedColumn(),
                TextColumn("{task.fields[note]}"),
                console=Console(stderr=True),
                transient=True,
                # What the program prints goes above the bar, but only where it goes to the screen.
                redirect_stdout=sys.stdout.isatty(),
                redirect_stderr=True,
            )
            task = progress.add_task(
                self.what, total=self.total, completed=self.done, note=self.note
            )
            progress.start()
            self._shown = progress, task
