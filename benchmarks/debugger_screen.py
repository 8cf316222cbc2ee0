"""The cost of the debugger's screen: a frame and a redraw at 200 x 50, all panels, digits_mlp."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import numpy as np
from prompt_toolkit.application.current import set_app
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import DummyInput
from prompt_toolkit.output.vt100 import Vt100_Output

import macaw
from benchmarks.figures import LOWER, Effort, Figure
from benchmarks.measure import ROUNDS, timed
from macaw.debugger.screen.application import Screen
from macaw.debugging import make_interpreter

DEMO = Path(__file__).parents[1] / "programs" / "digits_mlp"
SIZES = ((80, 24), (120, 40), (200, 50))
STEPS = 20  # frames of a round


def measure(effort: Effort) -> Iterator[Figure]:
    """Yield the milliseconds of a frame and of a redraw by the size of the terminal."""
    for width, height in SIZES[:1] if effort.small else SIZES:
        frames, redraws = asyncio.run(_steps(width, height, 2 if effort.small else ROUNDS * STEPS))
        row = f"{width} x {height}"
        both = [frame + redraw for frame, redraw in zip(frames, redraws, strict=True)]
        for column, values in (("a frame", frames), ("a redraw", redraws), ("both", both)):
            yield Figure(row, column, tuple(values), LOWER)


async def _steps(width: int, height: int, steps: int) -> tuple[list[float], list[float]]:
    """Return the milliseconds of each frame and of each redraw, at a terminal of this size.

    `steps` is the number of steps; each makes a frame, in the worker, and a redraw.
    """
    program = macaw.assemble(DEMO / "digits_mlp.s")
    debugged = make_interpreter(program, {"x": np.load(DEMO / "images.npy")[0]})
    terminal = Vt100_Output(StringIO(), lambda: Size(rows=height, columns=width), term="xterm")
    screen = Screen(debugged, terminal_input=DummyInput(), terminal_output=terminal)
    worker, app = screen.worker, screen.app
    app.loop = asyncio.get_running_loop()
    worker.panels = tuple(screen.composer.panels(width, height - 3))
    for line in ("stepc 1300", "focus pe[1,0].3"):
        debugged.execute(line)
    frames, redraws = [], []
    with set_app(app):
        for _ in range(steps):
            debugged.execute("stepc")
            worker.builder.note_stop()
            frames.append(1000 * timed(worker._renew))
            redraws.append(1000 * timed(lambda: app.renderer.render(app, app.layout)))
    return frames, redraws
