"""Makes the pictures of the pages; `make picture` calls it.

The README's pictures are the demo and a debugger's screen, drawn as terminals. The pictures of
docs/profile.md are the page of a profile in headless Chromium, in light and in dark.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyte
from rich.console import Console
from rich.style import Style
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "picture.svg"
WIDTH = 100  # columns
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WINDOW = "1200,860"
PAGES = {
    ROOT / "docs" / "profile.png": "--blink-settings=preferredColorScheme=1",
    ROOT / "docs" / "profile-dark.png": "--blink-settings=preferredColorScheme=0",
}
SHOWN, COMMAND = "make demo", "python programs/digits_mlp/demo.py"
DEBUGGER = ROOT / "docs" / "debugger.svg"
INPUT = "programs/digits_mlp/images.npy"
DEBUGGED = ("programs/digits_mlp/digits_mlp.s", "-i", "x={place}/x.npy")
SCREEN = (132, 42)
PATIENCE = 60  # seconds for the debugger to show what is waited for
BUSY = "Ctrl-C stops it"  # what the screen says while it works
LINES = (
    "panel output grow 5",
    "heat macs",
    "tbreak layer3",
    "continue",
    "focus pe[0,0].3",
    "stepc 60",
    "why hidden2[0, 3] depth 2",
)

# As rich's own, less the web fonts that it would fetch, and without a window's frame buttons.
FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
    font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
    font-size: {char_height}px;
    line-height: {line_height}px;
}}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
<rect fill="#16181d" width="{width}" height="{height}" rx="8" />
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix" xml:space="preserve">
{matrix}
</g>
</g>
</svg>
"""


def started(command: list[str], width: int, height: int) -> tuple[subprocess.Popen[bytes], int]:
    """Start a command on its own terminal; return the process and our end of the terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    places = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": places, "TERM": "xterm-256color", "COLORTERM": "truecolor",
                   "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}  # fmt: skip
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,  # a progress bar is no part of the picture
    )
    os.close(theirs)
    return process, ours


def screen(command: str) -> str:
    """What `command` prints on a terminal of WIDTH columns, escape sequences included."""
    process, ours = started(shlex.split(command), WIDTH, 50)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # how Linux says that the other end is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    if process.wait():
        sys.exit(f"{command}: exit status {process.returncode}\n{b''.join(pieces).decode()}")
    return b"".join(pieces).decode().replace("\r\n", "\n")


def drawn(texts: list[Text], width: int, file: Path) -> None:
    """Write lines of a terminal as a picture."""
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=width, file=nowhere, force_terminal=True)
        for text in texts:
            console.print(text, no_wrap=True, overflow="crop")
        svg = console.export_svg(title="", code_format=FORMAT, unique_id="macaw")
    file.write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n")
    print(f"wrote {file.relative_to(ROOT)}")


def terminal() -> None:
    """The demo as a terminal shows it."""
    shown = Text.assemble(("$ ", "bold green"), (SHOWN, "bold"))
    drawn([shown, Text.from_ansi(screen(COMMAND))], WIDTH, PICTURE)


def debugger() -> None:
    """The debugger's screen after LINES, read from a terminal that pyte emulates."""
    seen = pyte.Screen(*SCREEN)
    stream = pyte.ByteStream(seen)
    with tempfile.TemporaryDirectory() as place:
        images = np.load(ROOT / INPUT)
        np.save(Path(place) / "x.npy", images.reshape(-1, 80, 64)[0])
        words = [word.format(place=place) for word in DEBUGGED]
        lines = [word for line in LINES for word in ("-e", line)]
        command = [sys.executable, "-m", "macaw", "debug", *words, *lines]
        os.environ["XDG_STATE_HOME"] = place  # nobody's own layout is in the picture
        process, ours = started(command, *SCREEN)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if select.select([ours], [], [], 1.0)[0]:
                stream.feed(os.read(ours, 65536))
            elif BUSY not in seen.display[0] and any(LINES[-1] in row for row in seen.display):
                break
        process.kill()
        process.wait()
        os.close(ours)
    rows = ([seen.buffer[y][x] for x in range(seen.columns)] for y in range(seen.lines))
    drawn([_row(row) for row in rows], SCREEN[0], DEBUGGER)


def _row(cells: list[pyte.screens.Char]) -> Text:
    """Join adjacent cells of one style, which makes the picture's file a fifth as large."""
    pieces = groupby(cells, _style)
    return Text.assemble(*(("".join(cell.data for cell in of), style) for style, of in pieces))


def _style(cell: pyte.screens.Char) -> Style:
    return Style(
        color=_colour(cell.fg), bgcolor=_colour(cell.bg), bold=cell.bold, reverse=cell.reverse
    )


def _colour(name: str) -> str | None:
    """pyte's name of a colour in rich's words."""
    if name == "default":
        return None
    return name.replace("brown", "yellow").replace("bright", "bright_")


def page() -> None:
    """The page of the six-core program's profile."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"no browser here: install one of {', '.join(BROWSERS)}")
    folder = ROOT / "programs" / "six_cores"
    inputs = [word for name in "xde" for word in ("-i", f"{name}={name}.npy")]
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "profile.html"
        command = [sys.executable, "-m", "macaw", "profile", "six_cores.s", *inputs]
        paths = {**os.environ, "PYTHONPATH": str(ROOT)}
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "check": True}
        subprocess.run([*command, "--html", str(file)], cwd=folder, env=paths, **quiet)
        for picture, scheme in PAGES.items():
            shown = Path(place) / picture.name
            subprocess.run(
                [
                    browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    "--force-color-profile=srgb", "--virtual-time-budget=3000", scheme,
                    f"--user-data-dir={place}/browser", f"--window-size={WINDOW}",
                    f"--screenshot={shown}", file.as_uri(),
                ],
                stderr=subprocess.DEVNULL,
                **quiet,
            )  # fmt: skip
            shutil.copy(shown, picture)
            print(f"wrote {picture.relative_to(ROOT)}")


def main() -> None:
    terminal()
    debugger()
    page()


if __name__ == "__main__":
    main()
