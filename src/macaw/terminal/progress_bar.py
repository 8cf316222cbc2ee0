"""Shows a progress bar on standard error if it is a terminal and the work takes over a second.

Plain output gets lines instead: the first line after a second, then a line every ten seconds. If a
bar is inside of another bar, only the inner bar is shown. The outermost bar is the `CommandBar`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO, cast

from macaw.terminal.plain import is_plain

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress

DELAY = 1.0  # seconds before a bar appears
LINES_APART = 10.0  # seconds between the lines of plain output
_INNERMOST: ContextVar[ProgressBar | None] = ContextVar("innermost", default=None)


class ProgressBar:
    """The progress bar of a piece of work: `with ProgressBar("images", 360) as bar: ...`.

    The `with` block adds 1 to `bar.count` for each finished item. Without a total, the bar shows
    only that work continues. `bar.note` is a function that returns a short text, which each redraw
    shows after the bar.
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what, self.total = what, total
        self.count = 0
        self.note: Callable[[], str] = str
        self._lock = threading.Lock()
        self._open = False
        self._prints_lines = False
        self._timer: threading.Timer | None = None
        self._progress: Progress | None = None
        self.begin = 0.0
        self._outer: ProgressBar | None = None
        self._has_ended = False

    def __enter__(self) -> Self:
        self._outer = _INNERMOST.get()
        if self._outer is not None:
            self._outer.close()
        _INNERMOST.set(self)
        self.begin = time.monotonic()
        self._open_later()
        return self

    def _open_later(self) -> None:
        """If standard error is a terminal, show the bar after `DELAY` seconds.

        Plain output has no bar: its first line about the progress is printed at that time instead.
        """
        if sys.stderr.isatty() and not self._has_ended:
            self._open, self._prints_lines = True, is_plain()
            self._start_timer(DELAY, self._appear)

    def _appear(self) -> None:
        if self._prints_lines:
            self._print_line()
        else:
            self._show()

    def print_lines(self) -> None:
        """Print lines instead of the bar, because plain output was chosen after the bar began."""
        self._prints_lines = True

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
        self.close()
        _INNERMOST.set(self._outer)
        if self._outer is not None:
            self._outer._open_later()

    def close(self) -> None:
        """Remove the bar from the screen."""
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
                seconds = f"{time.monotonic() - self.begin:.0f} s"
                parts = (" ".join(part.split()) for part in (count, self.note(), seconds))
                print(f"{self.what}: {', '.join(filter(None, parts))}", file=sys.stderr, flush=True)
                self._start_timer(LINES_APART, self._print_line)


def present_bar() -> ProgressBar | None:
    """Return the bar that was started last and has not ended, or None if there is none."""
    return _INNERMOST.get()


class CommandBar(ProgressBar):
    """The bar of a whole command, for the work that no other bar counts.

    The bar ends at the command's first output to the screen, because redrawing the bar below a long
    output would be slow.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self._stdout: TextIO | None = None  # until the first output
        # Kept to the end of the command, because the first `print` still refers to it.
        self._replacement: TextIO | None = None

    def __enter__(self) -> Self:
        if sys.stdout.isatty():
            self._stdout = sys.stdout
            self._replacement = cast("TextIO", _FirstUse(sys.stdout, self._end))
            sys.stdout = self._replacement
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._end()

    def _end(self) -> None:
        self.close()
        self._has_ended = True
        if self._stdout is not None:
            sys.stdout, self._stdout = self._stdout, None


class _FirstUse:
    """Stands for a stream, and calls a function before the first use of the stream."""

    def __init__(self, stream: TextIO, call: Callable[[], None]) -> None:
        self._stream, self._call = stream, call
        self.isatty, self.flush, self.encoding = stream.isatty, stream.flush, stream.encoding

    def __getattr__(self, name: str) -> Any:
        self._call()
        return getattr(self._stream, name)


def _progress(bar: ProgressBar, console: Console) -> Progress:
    """Return the progress bar of the library rich that shows `bar` on `console`.

    At each redraw it reads `bar.count` and `bar.note`.
    """
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
        redirect_stdout=sys.stdout.isatty() and not isinstance(bar, CommandBar),
        redirect_stderr=True,
    )
    progress.add_task(bar.what, total=bar.total, completed=bar.count)
    progress.tasks[0].start_time = bar.begin
    return progress
