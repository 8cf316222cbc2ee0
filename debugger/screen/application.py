"""The screen as a prompt-toolkit application: status, panels, the input line, the bar of keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Float, FloatContainer, HSplit, Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.mouse_events import MouseButton, MouseEvent, MouseEventType
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.search import stop_search
from prompt_toolkit.widgets import SearchToolbar

from macaw.debugger.commands.gdb_spellings import HABITS
from macaw.debugger.frame_builder import LINES
from macaw.debugger.layout import DIGITS
from macaw.debugger.screen.completion import CommandCompleter
from macaw.debugger.screen.control import CommandLine, Panels
from macaw.debugger.screen.keys import KEYS, Key, bar_keys, table
from macaw.debugger.screen.line_history import LineHistory
from macaw.debugger.screen.worker import Worker
from macaw.debugger.views.area import UNICODE, Area, Signs
from macaw.debugger.views.composer import Composer, Hit

if TYPE_CHECKING:
    from pathlib import Path

    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

    from macaw.debugger.commands.interpreter import Interpreter

REDRAW = 0.04  # least time between redraws, in seconds
ESCAPE = 0.05  # how long to wait after Esc for the rest of a key sequence, in seconds
BAD = ("fault", "deadlock")
WHEEL = {MouseEventType.SCROLL_UP: -3, MouseEventType.SCROLL_DOWN: 3}  # rows


class Screen:
    """The full-screen display of one command interpreter of the debugger."""

    def __init__(
        self,
        interpreter: Interpreter,
        *,
        signs: Signs = UNICODE,
        history: Path | None = None,
        keep: Callable[[Mapping[str, Any]], object] | None = None,
        terminal_input: Input | None = None,
        terminal_output: Output | None = None,
    ) -> None:
        """Build the screen. It calls `keep` with the settings of the layout when the user leaves.

        `signs` are the characters that panels use. `history` is the file for typed lines.
        `terminal_input` and `terminal_output` are for tests.
        """
        self.interpreter = interpreter
        self.arrangement = interpreter.arrangement
        self.signs = signs
        self.keep = keep
        self._grid_target = ""  # the unit to which arrow keys have last moved the focus
        self.worker = Worker(interpreter, self._redraw, self._leave)
        self.composer = Composer(self.arrangement, signs)
        self.words = CommandCompleter(interpreter, lambda: bool(self.worker.busy))
        lines_before: History = (
            LineHistory(str(history)) if history is not None else InMemoryHistory()
        )
        self.buffer = Buffer(
            completer=self.words,
            history=lines_before,
            multiline=False,
            complete_while_typing=Condition(lambda: self.words.palette),
            accept_handler=self._accept,
        )
        self.app: Application[None] = Application(
            layout=self._layout(),
            key_bindings=self._bindings(),
            full_screen=True,
            mouse_support=Condition(lambda: self.arrangement.mouse),
            min_redraw_interval=REDRAW,
            color_depth=_depth(),
            input=terminal_input,
            output=terminal_output,
        )
        self.app.ttimeoutlen = self.app.timeoutlen = ESCAPE

    def run(self, lines: Iterable[str] = ()) -> None:
        """Show the screen until the user leaves; execute `lines` first."""
        self.worker.start()
        for line in lines:
            self.worker.submit(line)
        try:
            self.app.run()
        finally:
            self.worker.stop()
            if self.keep is not None:
                self.keep(self.arrangement.plain())

    # Methods for the worker's thread

    def _redraw(self) -> None:
        loop = self.app.loop
        if loop is not None:  # the application may be ending
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self.app.invalidate)

    def _leave(self) -> None:
        loop = self.app.loop
        if loop is not None:
            loop.call_soon_threadsafe(self._exit)

    def _exit(self) -> None:
        if self.app.is_running and not self.app.is_done:
            self.app.exit()

    def _break_line(self, address: int) -> str:
        """Return the command that deletes the first point at an address.

        If no point has the address, return the command that sets a breakpoint there.
        """
        for point in self.interpreter.session.points:
            if address in point.addresses:
                return f"delete {point.number}"
        return f"break *{address:#x}"

    # Parts of the screen

    def _layout(self) -> Layout:
        search = SearchToolbar()
        field = CommandLine(
            self._go_back,
            buffer=self.buffer,
            input_processors=[BeforeInput(lambda: self.interpreter.prompt, style="bold")],
            search_buffer_control=search.control,
        )
        line = Window(field, height=1, dont_extend_height=True)
        body = HSplit(
            [
                Window(FormattedTextControl(self._status), height=1, style="reverse"),
                Window(Panels(self.worker, self.composer, self._mouse)),
                line,
                search,
                Window(FormattedTextControl(self._bar), height=1, style="reverse"),
            ]
        )
        menu = Float(CompletionsMenu(max_height=12), xcursor=True, ycursor=True)
        return Layout(FloatContainer(body, [menu]), focused_element=line)

    def _status(self) -> StyleAndTextTuples:
        """Return the status line: why the program has stopped, or what is running."""
        worker = self.worker
        if worker.busy:
            what, cycle = worker.progress or ("", None)
            text = f"{what or worker.busy}" + ("" if cycle is None else f", cycle {cycle:,}")
            text += f", then {worker.waiting - 1} more" if worker.waiting > 1 else ""
            return [("bold", f" {text}: Ctrl-C stops it ")]
        frame = worker.frame
        style = "bold fg:ansired" if frame.reason in BAD else "bold"
        digits = self._digits()
        width = self.app.output.get_size().columns - len(digits)
        status = Area(width, 1, self.signs).cut(f" {frame.status} ", width)
        return [(style, status.ljust(width) if digits else status), *digits]

    def _digits(self) -> StyleAndTextTuples:
        """Return the digits that stand for the panels; a click on a digit shows its panel.

        The result is empty if the mouse is off.
        """
        if not self.arrangement.mouse:
            return []

        def click(panel: str, event: MouseEvent) -> None:
            if event.event_type is MouseEventType.MOUSE_UP:
                self._show_panel(panel)

        return [("", digit, partial(click, panel)) for panel, digit in DIGITS.items()]

    def _bar(self) -> StyleAndTextTuples:
        width = self.app.output.get_size().columns
        pieces: StyleAndTextTuples = []
        for key, text in bar_keys(width):
            pieces += [("", "  ")] if pieces else []
            pieces.append(("", text, partial(self._click_key, key)))
        return pieces

    def _click_key(self, key: Key, event: MouseEvent) -> None:
        """Do the action of a key that the user has clicked in the bar.

        A right click means the key with Shift.
        """
        if event.event_type is not MouseEventType.MOUSE_UP:
            return
        if event.button is MouseButton.RIGHT:
            back = next((x for x in KEYS if x.label == f"Shift-{key.label}"), None)
            if back is None:
                return
            key = back
        for name in key.keys:
            self.app.key_processor.feed(KeyPress(Keys(name)))

    # Keys

    def _accept(self, buffer: Buffer) -> bool:
        self.words.palette = False
        if self.worker.progress is not None and not buffer.text.strip():
            return True  # during a run, Enter on an empty line repeats no command
        self.arrangement.scroll.pop("output", None)
        self.worker.submit(buffer.text)
        return False

    def _submit(self, line: str | Callable[[], str], quiet: bool = False) -> None:
        if self.worker.progress is None:
            if not quiet:
                self.arrangement.scroll.pop("output", None)
            self.worker.submit(line, quiet)

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()
        acts: dict[str, Callable[[KeyPressEvent], None]] = {
            "help": self._help,
            "break": self._break,
            "palette": self._palette,
            "stop": self._stop,
            "quit": self._quit,
            "zoom": lambda event: self._submit("zoom", quiet=True),
            "grow": lambda event: self._resize("grow"),
            "shrink": lambda event: self._resize("shrink"),
        }
        for key in KEYS:
            if key.line:
                bindings.add(*key.keys)(partial(self._line, key.line))
            elif key.act:
                bindings.add(*key.keys)(acts[key.act])
        bindings.add("<sigint>")(self._stop)
        for panel, digit in DIGITS.items():
            bindings.add("escape", digit, eager=True)(partial(self._panel, panel))
        free = Condition(
            lambda: not self.buffer.complete_state and not self.app.layout.is_searching
        )
        active = free & Condition(lambda: bool(self.arrangement.active))
        in_grid = Condition(lambda: self.arrangement.active == "grid")
        bindings.add("escape", filter=Condition(self._has_escape))(self._back)
        for name, rows in (("up", -1), ("down", 1)):
            bindings.add(name, filter=active & ~in_grid)(partial(self._scroll, rows))
        for name, pages in (("pageup", -1), ("pagedown", 1)):
            bindings.add(name, filter=free)(partial(self._scroll_page, pages))
        for name, way in (("up", (-1, 0)), ("down", (1, 0)), ("left", (0, -1)), ("right", (0, 1))):
            bindings.add(name, filter=active & in_grid)(partial(self._move, way))
        empty = Condition(lambda: not self.buffer.text)
        has_pages = free & empty & Condition(self._has_pages)
        earlier = has_pages & Condition(lambda: bool(self._pages()[1:] == [True]))
        bindings.add("enter", filter=active & in_grid & empty)(partial(self._panel, "registers"))
        for name in (" ", "enter"):
            bindings.add(name, filter=has_pages & ~(active & in_grid))(partial(self._page, 1))
        bindings.add("b", filter=earlier)(partial(self._page, -1))
        bindings.add("q", filter=has_pages)(self._end_pages)
        return bindings

    def _has_escape(self) -> bool:
        return bool(
            self.arrangement.active
            or self.arrangement.zoom_panel
            or self.buffer.complete_state
            or self._has_pages()
        )

    def _pages(self) -> list[int]:
        """Return the list [rows of a page, whether an earlier page exists] for the shown answer.

        The list is empty if the output panel does not show an answer in pages (`Area.pages`).
        """
        area = self.composer.area("output")
        return [] if area is None else area.pages

    def _has_pages(self) -> bool:
        """Return whether the output panel shows a page of an answer that has further pages."""
        return bool(self._pages())

    def _page(self, way: int, event: KeyPressEvent | None = None) -> None:
        """Show the next page of an answer if `way` is 1, the previous page if it is -1."""
        scroll = self.arrangement.scroll
        scroll["output"] = max(0, scroll.get("output", 0) + way * self._pages()[0])
        self.arrangement.note_change()

    def _end_pages(self, event: KeyPressEvent | None = None) -> None:
        """Show the last page of an answer."""
        self.arrangement.scroll["output"] = LINES
        self.arrangement.note_change()

    def _line(self, line: str, event: KeyPressEvent) -> None:
        self._submit(line)

    def _help(self, event: KeyPressEvent) -> None:
        word = self.buffer.text.split()
        if word:
            self._submit(f"help {word[0].partition('/')[0]}")
            return
        rows = list(table())
        widths = [max(len(row[at]) for row in rows) for at in (0, 1)]
        keys = [f"{name:{widths[0]}}  {meaning:{widths[1]}}  {mouse}" for name, meaning, mouse in
                (("key", "what it does", "with `mouse on`"), *rows)]  # fmt: skip
        width = max(len(name) for name, _ in HABITS)
        habits = [f"{name:{width}}  {here}" for name, here in (("GDB", "here"), *HABITS)]
        more = "help lists the commands, help NAME says all about one"
        self.arrangement.scroll.pop("output", None)
        self.worker.note([*keys, "", "For users of GDB", *habits, "", more])
        self.arrangement.zoom("output")

    def _break(self, event: KeyPressEvent) -> None:
        code = self.worker.frame.parts.get("code")
        row = next((row for row in code.rows if row.current), None) if code is not None else None
        if row is None or row.address is None:
            return
        self._submit(partial(self._break_line, row.address))

    def _palette(self, event: KeyPressEvent) -> None:
        self._end_search()
        self.words.palette = True
        self.buffer.start_completion(select_first=False)

    def _stop(self, event: KeyPressEvent) -> None:
        if self.worker.busy:
            self.worker.drop()
            self.worker.interrupt()
        else:
            self._end_search()
            self.words.palette = False
            self.buffer.reset()
            self.worker.end_input()

    def _end_search(self) -> None:
        """End a search of the history, so that keys go to the input line again."""
        if self.app.layout.is_searching:
            stop_search()

    def _quit(self, event: KeyPressEvent) -> None:
        if self.buffer.text:
            self.buffer.delete()
        else:
            self._exit()

    def _resize(self, what: str) -> None:
        if self.arrangement.active:
            self._submit(f"panel {self.arrangement.active} {what}", quiet=True)

    def _panel(self, panel: str, event: KeyPressEvent) -> None:
        self._show_panel(panel)

    def _show_panel(self, panel: str) -> None:
        self.arrangement.active = panel
        self.arrangement.show(panel)

    def _back(self, event: KeyPressEvent) -> None:
        if self.buffer.complete_state:
            self.words.palette = False
            self.buffer.cancel_completion()
            return
        self._go_back()

    def _go_back(self) -> None:
        """Return to the command line: show all panels, and the end of a long answer."""
        if self._has_pages():
            self._end_pages()
        self.arrangement.active = ""
        self.arrangement.zoom("")

    def _scroll_page(self, way: int, event: KeyPressEvent) -> None:
        """Scroll the active panel by its height less one row, down if `way` is 1, up if it is -1.

        If no panel is active, scroll the output panel.
        """
        panel = self.arrangement.active or "output"
        area = self.composer.area(panel)
        self._scroll_panel(panel, way * max(1, (area.height if area is not None else 10) - 1))

    def _scroll(self, rows: int, event: KeyPressEvent) -> None:
        self._scroll_panel(self.arrangement.active, rows)

    def _scroll_panel(self, panel: str, rows: int) -> None:
        scroll, area = self.arrangement.scroll, self.composer.area(panel)
        if area is None or not area.offset:
            return
        above, under = area.hidden
        least, most = area.offset[0] - above, area.offset[0] + under
        scroll[panel] = min(max(scroll.get(panel, 0) + rows, least), most)
        self.arrangement.note_change()

    def _move(self, way: tuple[int, int], event: KeyPressEvent) -> None:
        grid = self.worker.frame.parts.get("grid")
        if grid is None or not grid.places:
            return
        focus = self._grid_target if self.worker.waiting else grid.focus  # the frame may be old
        at, across = next(
            ((y, row.index(focus)) for y, row in enumerate(grid.places) if focus in row), (0, 0)
        )
        y = min(max(0, at + way[0]), len(grid.places) - 1)
        x = min(max(0, across + way[1]), len(grid.places[y]) - 1)
        self._aim(grid.places[y][x])

    def _aim(self, place: str) -> None:
        """Move the focus to the unit `place` of the grid."""
        self._grid_target = place
        self._submit(f"focus {place}", quiet=True)

    def _mouse(self, event: MouseEvent, hit: Hit) -> None:
        """React to a click or a turn of the wheel on a panel.

        `hit` is what the panel shows there. All that the mouse can do, a key can do, too.
        """
        what = event.event_type
        if what in WHEEL and hit.row == 0:
            self._submit(f"panel {hit.panel} {'grow' if WHEEL[what] < 0 else 'shrink'}", quiet=True)
        elif what in WHEEL:
            self._scroll_panel(hit.panel, WHEEL[what])
        elif what is not MouseEventType.MOUSE_UP:
            return
        elif hit.panel == "output" and hit.is_last and self._has_pages():
            is_back = event.button is MouseButton.RIGHT
            if not is_back or self._pages()[1]:
                self._page(-1 if is_back else 1)
        elif hit.row == 0 and self.arrangement.active == hit.panel:
            self._submit("zoom", quiet=True)
        elif hit.place is not None and hit.place == self._focus():
            self._show_panel("registers")
        else:
            self._show_panel(hit.panel)
            if hit.place is not None:
                self._aim(hit.place)

    def _focus(self) -> str:
        """Return the name of the grid's unit that has the focus."""
        grid = self.worker.frame.parts.get("grid")
        return "" if grid is None else grid.focus


def _depth() -> ColorDepth:
    return ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else ColorDepth.DEPTH_4_BIT
