"""The whole screen as a terminal shows it: the application draws it, pyte reads it, without
threads.
"""

from __future__ import annotations

import asyncio
from io import StringIO

import pyte
from prompt_toolkit.application.current import set_app
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import DummyInput
from prompt_toolkit.output.vt100 import Vt100_Output

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.screen.application import Screen
from macaw.debugger.views.area import UNICODE
from macaw.debugging import DebuggerFiles


def drawn(session, lines, size, signs=UNICODE):
    """The terminal's contents after command lines."""
    return asyncio.run(_drawn(session, lines, size, signs))


async def _drawn(session, lines, size, signs):
    width, height = size
    written = StringIO()
    terminal = Vt100_Output(written, lambda: Size(rows=height, columns=width), term="xterm")
    screen = Screen(
        Interpreter(session, DebuggerFiles()),
        signs=signs,
        terminal_input=DummyInput(),
        terminal_output=terminal,
    )
    app, worker = screen.app, screen.worker
    app.loop = asyncio.get_running_loop()
    session.on_progress = None  # progress of a run depends on time
    shown = pyte.Screen(width, height)
    with set_app(app):
        app.renderer.render(app, app.layout)  # from now on these panels are computed
        for line in lines:
            worker.submit(line)
            while not worker._jobs.empty():
                job = worker._jobs.get()
                assert job is not None
                job()
        app.render_counter += 1  # draw all, without the cache of the first drawing
        app.renderer.render(app, app.layout)
    pyte.Stream(shown).feed(written.getvalue())
    return shown


def styles(shown):
    """The look of each cell as a letter, one line for each screen row, and a legend of letters."""
    known = {"": "."}
    rows = []
    for y in range(shown.lines):
        row = ""
        for x in range(shown.columns):
            cell = shown.buffer[y][x]
            words = [name for name in ("bold", "italics", "underscore", "reverse") if getattr(cell, name)]  # fmt: skip
            words += [cell.fg] if cell.fg != "default" else []
            words += [f"on {cell.bg}"] if cell.bg != "default" else []
            row += known.setdefault(" ".join(words), chr(ord("a") + len(known) - 1))
        rows.append(row)
    legend = [f"{letter} {style or 'plain'}" for style, letter in known.items()]
    return "\n".join([*rows, *legend]) + "\n"
