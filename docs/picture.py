"""The pictures, made now; `make picture` calls it.

The README's is the demo, drawn as a terminal. Those of docs/profile.md are the page of a profile in
headless Chromium, in light and in dark.
"""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
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


def screen(command: str) -> str:
    """What `command` prints on a terminal of WIDTH columns, escape sequences included."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    places = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": places, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        shlex.split(command),
        cwd=ROOT,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,  # a progress bar is no part of the picture
    )
    os.close(theirs)
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


def terminal() -> None:
    """The demo as a terminal shows it."""
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere, force_terminal=True)
        console.print(Text.assemble(("$ ", "bold green"), (SHOWN, "bold")))
        console.print(Text.from_ansi(screen(COMMAND)))
        svg = console.export_svg(title="", code_format=FORMAT, unique_id="macaw")
    PICTURE.write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n")
    print(f"wrote {PICTURE.relative_to(ROOT)}")


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
        quiet = {"stdout": subprocess.DEVNULL, "check": True}
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
    page()


if __name__ == "__main__":
    main()
