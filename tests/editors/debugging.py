"""`python -m tests.editors.debugging VSIX FOLDER [PICTURES]`: the debugger in a real VS Code.

A code-server of FOLDER opens programs/wrong_shift. Chromium plays the story of
docs/debugging-story.md by keys and mouse: breakpoint, steps, hover, memory, causes. The page must
show what `macaw debug` prints. The pictures of docs/vscode.md are written into PICTURES. `make
test-extras` runs this; `make picture` keeps the pictures.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import cast

import numpy as np

import macaw
from tests.editors.code_server import install, serving, shown_by
from tests.editors.view import ROOT

SCRIPT = Path(__file__).with_name("debugging.mjs")
STORY = ROOT / "programs" / "wrong_shift"
SETTINGS = {
    "workbench.colorTheme": "Default Light Modern",
    "workbench.tips.enabled": False,
    "editor.minimap.enabled": False,
    "chat.commandCenter.enabled": False,
}
NAMES = ("first", "end", "back", "why", "memory")  # of the pictures


def play(entry: Path, vsix: Path, chromium: str, pictures: Path) -> dict[str, object]:
    """Play the story in a copy of its folder; return what the page shows."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        home = Path(name).resolve()
        folder = home / "wrong_shift"
        folder.mkdir()
        for file in STORY.iterdir():
            if file.suffix in (".s", ".npy", ".py"):
                shutil.copy(file, folder)
        with serving(entry, vsix, home, SETTINGS) as address:
            return shown_by(SCRIPT, entry, address, folder, pictures, chromium)


def answers(*lines: str) -> str:
    """The output of `macaw debug` for lines of input, with single spaces."""
    words = [word for line in lines for word in ("-e", line)]
    command = ["debug", "wrong_shift.s", "-i", "x=x.npy", "--batch", *words]
    done = subprocess.run(
        [sys.executable, "-m", "macaw", *command],
        cwd=STORY, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    return " ".join(done.stdout.split())


def expected() -> dict[str, object]:
    """What the page must show, found in other ways: at the prompt, in a session, in arrays."""
    session = macaw.debug(STORY / "wrong_shift.s", x=np.load(STORY / "x.npy"))
    session.break_("wrong_shift.s:67")
    session.cont()
    a1 = session.registers()["a1"]
    session.points.clear()
    session.cont()
    hidden = session.read("hidden")
    row = hidden.tobytes()[8:16]
    text = "".join(chr(x) if 31 < x < 127 else "." for x in row)
    equal = "y is equal to golden.npy, int32, 4 x 4"
    watch = session.watch("hidden[1, 0]")
    session.cont_back()
    session.points.delete(watch.number)
    units = [
        f"pe[{row},{cluster}].{unit}" for row, cluster in np.ndindex(2, 2) for unit in range(4)
    ]
    return {
        "hover": f"{a1} {a1:#010x} <layer1>",
        "element": f"[0] ={hidden[1, 0]}",
        "memory": " ".join(f"0x100001dc {row.hex(' ')} {text}".split()),
        "tried": equal,
        "mended": equal,
        "messages": [],
        "units": [f"{session.read(f'{unit}.cycles_mac')}" for unit in units],
    }


def main(vsix: Path, folder: Path, kept: Path | None) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("the test of the debugger in VS Code needs chromium")
    with tempfile.TemporaryDirectory() as place:
        shown = play(install(folder), vsix, chromium, Path(place))
        check(shown, Path(place), folder)
        if kept is not None:
            for name in NAMES:
                shutil.copy(Path(place) / f"{name}.png", kept)
                print(f"wrote {kept / name}.png")
    print("VS Code plays the debugging story: breakpoint, steps, back, hover, memory, why")


def check(shown: dict[str, object], place: Path, folder: Path) -> None:
    """End the process with a message if the page has shown something wrong."""
    if "failure" in shown:
        shutil.copy(place / "failure.png", folder)
        sys.exit(f"{shown['failure']}\n{folder}/failure.png shows the page: {shown}")
    texts = {
        "difference": answers("continue", "diff y golden.npy"),
        "why": answers("continue", "why y[1, 0] depth 2"),
        "hidden": answers("continue", "diff hidden golden_hidden.npy"),
        "watch": answers("continue", "watch hidden[1, 0]", "reverse-continue"),
    }
    for key, text in texts.items():
        answer = str(shown[key])
        if not answer or not text.endswith(answer.replace("watch 2: ", "watch 1: ")):
            sys.exit(f"{key}: VS Code shows\n{answer}\nthe prompt prints\n{text}")
    for key, value in expected().items():
        if shown[key] != value:
            sys.exit(f"{key}: VS Code shows {shown[key]}, expected {value}")
    causes = str(shown["causes"])
    for text in ("hidden[1, 0] = 127", "result = 8650", "with shift = 5"):
        if text not in causes:
            sys.exit(f"the view Why lacks {text}: {causes}")
    packets = [row for row in cast("list[str]", shown["instructions"]) if "1000016e" in row]
    if not packets or "st base=1" not in packets[0]:
        sys.exit(f"the disassembly shows something else: {shown['instructions']}")
    if "weights" not in str(shown["queues"]):
        sys.exit(f"the view Queues shows something else: {shown['queues']}")


if __name__ == "__main__":
    main(
        Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(),
        Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None,
    )  # fmt: skip
