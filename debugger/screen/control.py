"""Shows the panels as a control of prompt-toolkit.

The control draws the rows again only if the frame, the size or the arrangement has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout.controls import BufferControl, UIContent, UIControl
from prompt_toolkit.mouse_events import MouseEvent, MouseEventType

from macaw.debugger.views.composer import Composer, Hit

if TYPE_CHECKING:
    from prompt_toolkit.key_binding.key_bindings import NotImplementedOrNone
    from rich.style import Style

    from macaw.debugger.frame import Frame
    from macaw.debugger.screen.worker import Worker

OnMouse = Callable[[MouseEvent, Hit], object]
COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "gray",
           "brightblack", "brightred", "brightgreen", "brightyellow", "brightblue",
           "brightmagenta", "brightcyan", "white")  # fmt: skip


@lru_cache(maxsize=256)
def style_of(style: Style | None) -> str:
    """Return a style of rich as a style string of prompt-toolkit."""
    if style is None:
        return ""
    words = [name for name in ("bold", "italic", "underline", "reverse") if getattr(style, name)]
    for prefix, colour in (("fg:", style.color), ("bg:", style.bgcolor)):
        if colour is not None and colour.number is not None and colour.number < len(COLOURS):
            words.append(f"{prefix}ansi{COLOURS[colour.number]}")
    return " ".join(words)


class CommandLine(BufferControl):
    """The input line. It calls `on_click` when the user clicks on it."""

    def __init__(self, on_click: Callable[[], object], **options: Any) -> None:
        super().__init__(**options)
        self.on_click = on_click

    def mouse_handler(self, mouse_event: MouseEvent) -> NotImplementedOrNone:
        """React to a click."""
        result = super().mouse_handler(mouse_event)
        # a selection, as after a double click, would make keys insert nothing
        self.buffer.exit_selection()
        if mouse_event.event_type is MouseEventType.MOUSE_UP:
            self.on_click()
            return None
        return result


class Panels(UIControl):
    """All panels as one control."""

    def __init__(self, worker: Worker, composer: Composer, on_mouse: OnMouse) -> None:
        """Build the control. It calls `on_mouse(event, hit)` for each click or turn of a wheel."""
        self.worker = worker
        self.composer = composer
        self.on_mouse = on_mouse
        self._size = (0, 0)
        self._key: object = None
        self._lines: list[StyleAndTextTuples] = []

    def create_content(self, width: int, height: int) -> UIContent:
        """Return the panels drawn on `width` x `height` cells."""
        frame = self.worker.frame
        arrangement = self.composer.arrangement
        self._size = width, height
        self.worker.show(self.composer.panels(width, height))
        key = (frame.version, width, height, arrangement.version)
        if key != self._key:
            self._lines = self._draw(frame, width, height)
            self._key = key
        lines = self._lines
        line: Callable[[int], StyleAndTextTuples] = lines.__getitem__
        return UIContent(get_line=line, line_count=len(lines), show_cursor=False)

    def mouse_handler(self, mouse_event: MouseEvent) -> NotImplementedOrNone:
        """React to a click or a turn of the wheel: call `on_mouse` with what is shown there."""
        x, y = mouse_event.position.x, mouse_event.position.y
        hit = self.composer.at(self.worker.frame, x, y, *self._size)
        if hit is None:
            return NotImplemented
        self.on_mouse(mouse_event, hit)
        return None

    def _draw(self, frame: Frame, width: int, height: int) -> list[StyleAndTextTuples]:
        rows = self.composer.rows(frame, width, height)
        return [[(style_of(piece.style), piece.text) for piece in row] for row in rows]
