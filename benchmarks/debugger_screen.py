"""What the debugger's screen costs: a frame and a redraw at 200 x 50 with all panels, digits_mlp."""

from __future__ import annotations

import asyncio
from io import StringIO
from pathlib import Path
from statistics import median

import numpy as np
from prompt_toolkit.application.current import set_app
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import DummyInput
from prompt_toolkit.output.vt100 import Vt100_Output

import macaw
from benchmarks.measure import ROUNDS, table, target, timed
from macaw.debugger.screen.application import Screen
from macaw.debugging import make_interpreter

DEMO = Path(__file__).parents[1] / "programs" / "digits_mlp"
SIZES = ((80, 24), (120, 40), (200, 50))
STEPS = 20  # frames of a round
LONGEST = 30.0  # milliseconds of a redraw at the largest size


def main() -> None:
    """Print the table, and what it was to be."""
    print("## The debugger's screen\n")
    print(f"Milliseconds of CPU time, medians of {ROUNDS * STEPS} steps of a cycle.\n")
    rows, redraws = [], []
    for width, height in SIZES:
        frame, redraw = _measured(width, height)
        redraws.append(redraw)
        rows.append((f"{width} x {height}", f"{frame:.1f}", f"{redraw:.1f}"))
    print(table(("terminal", "a frame", "a redraw"), rows))
    text = f"a redraw at 200 x 50 below {LONGEST:.0f} ms ({redraws[-1]:.1f})"
    print(target(text, redraws[-1] < LONGEST), end="")


def _measured(width: int, height: int) -> tuple[float, float]:
    """Of a frame in the worker, and of a redraw from it to what a terminal is sent."""
    return asyncio.run(_steps(width, height))


async def _steps(width: int, height: int) -> tuple[float, float]:
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
        for _ in range(ROUNDS * STEPS):
            debugged.execute("stepc")
            worker.builder.note_stop()
            frames.append(1000 * timed(worker._renew))
            redraws.append(1000 * timed(lambda: app.renderer.render(app, app.layout)))
    return median(frames), median(redraws)


if __name__ == "__main__":
    main()
