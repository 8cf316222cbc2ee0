"""Shows a progress bar on standard error if it is a terminal and the work takes over a second.

Plain output gets lines instead, one after a second, then one every ten seconds.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from macaw.terminal.plain import is_plain

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress

DELAY = 1.0  # seconds before a bar appears
LINES_APART = 10.0  # seconds between the lines of plain output


class ProgressBar:
    """The progress bar: `with ProgressBar("images", 360) as bar: ... bar.count += 1`.

    Without a total, the bar shows only that work continues. `bar.note` is a function that returns
    a short text, which each redraw shows after the bar.
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what, self.total = what, total
        self.count = 0
        self.note: Callable[[], str] = str
        self._lock = threading.Lock()
        self._open = False
        self._timer: threading.Timer | None = None
        self._progress: Progress | None = None
        self._begin = 0.0

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._open = True
            self._begin = time.monotonic()
            self._start_timer(DELAY, self._print_line if is_plain() else self._show)
        return self

    def _start_timer(self, delay: float, act: Callable[[], None]) -> None:
        self._timer = threading.Timer(delay, act)
        self._timer.daemon = True
        self._timer.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._open = False
            if self._timer is not None:
                self._timer.cancel()
            if self._progress is not None:
                self._progress.stop()

    def _show(self) -> None:
        from rich.console import Console

        with self._lock:
            if self._open:
                self._progress = _progress(self, Console(stderr=True))
                self._progress.start()

    def _print_line(self) -> None:
        with self._lock:
            if self._open:
                count = f"{self.count:,} of {self.total:,}" if self.total else ""
                seconds = f"{time.monotonic() - self._begin:.0f} s"
                parts = (" ".join(part.split()) for part in (count, self.note(), seconds))
                print(f"{self.what}: {', '.join(filter(None, parts))}", file=sys.stderr, flush=True)
                self._start_timer(LINES_APART, self._print_line)


def _progress(bar: ProgressBar, console: Console) -> Progress:
    """Return a bar of rich that reads `bar.count` and `bar.note` at each redraw."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Note(ProgressColumn):
        max_refresh = 0.1

        def render(self, task: Task) -> Text:
            return Text(bar.note(), no_wrap=True)

    class LiveProgress(Progress):
        def get_renderables(self) -> Iterable[RenderableType]:
            for task in self.tasks:
                task.completed = bar.count
            yield from super().get_renderables()

    columns_with_total = (MofNCompleteColumn(), TimeRemainingColumn()) if bar.total else ()
    progress = LiveProgress(
        TextColumn("{task.description}", markup=False),  # commands may contain brackets
        BarColumn(),
        *columns_with_total,
        TimeElapsedColumn(),
        Note(),
        console=console,
        transient=True,
        auto_refresh=True,
        # Redirection puts the program's output above the bar. It is for output to the screen only.
        redirect_stdout=sys.stdout.isatty(),
        redirect_stderr=True,
    )
    progress.add_task(bar.what, total=bar.total, completed=bar.count)
    return progress
