"""`python -m tests.editors.vsix VSIX FOLDER`: the packaged extension in VS Code's own editor.

FOLDER gets a code-server and playwright-core from npm unless it has them.
Chromium opens a file that has a mistake; the page must show what the language server says of it.
`make test-extras` runs this.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.editors.code_server import install, serving, shown_by

SCRIPT = Path(__file__).with_name("vsix.mjs")
FILES = {
    "a.s": ' .include "c.inc"\n .core cp\n_start: la a0, table\n li a1, SIZE\n adi a0, a0, 1\n',
    "b.s": " .global table\ntable: .word 1\n",
    "c.inc": " .equ SIZE, 4\n",
    "golden.toml": 'source = ["a.s", "b.s"]\n',
}
LINES = [
    ' .include "c.inc"',
    " .core cp",
    "_start: 0x10000 la a0, table 2 cycles",
    " li a1, SIZE = 4  1 cycle",
    " adi a0, a0, 1",
    "",
]


def check_package(vsix: Path) -> None:
    """End the process unless the package has the bundle and its data, and nothing else."""
    names = {name for name in zipfile.ZipFile(vsix).namelist() if name.startswith("extension/")}
    wanted = "package.json readme.md LICENSE.txt out/extension.js macaw.tmLanguage.json"
    expected = [*wanted.split(), "language-configuration.json"]
    if names != {f"extension/{name}" for name in expected}:
        sys.exit(f"{vsix} has other files: {sorted(names)}")


def show(entry: Path, vsix: Path, chromium: str) -> dict[str, object]:
    """What the page shows of a.s."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        home = Path(name).resolve()
        (home / "program").mkdir()
        for file, text in FILES.items():
            (home / "program" / file).write_text(text)
        with serving(entry, vsix, home, {}) as address:
            program = home / "program"
            return shown_by(SCRIPT, entry, address, program, program / "a.s", chromium)


def main(vsix: Path, folder: Path) -> None:
    check_package(vsix)
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("the test of the extension needs chromium")
    shown = show(install(folder), vsix, chromium)
    expected = {"lines": LINES, "errors": 1, "status": "Macaw assembly"}
    for key, value in expected.items():
        if shown.get(key) != value:
            sys.exit(f"the editor shows something else: {key}: {shown}")
    if "cp has no instruction 'adi'" not in str(shown["problems"]):
        sys.exit(f"the list of problems says something else: {shown}")
    print("VS Code shows the errors, notes and colours of the extension")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
