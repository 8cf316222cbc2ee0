"""`python -m tests.editors.vsix VSIX FOLDER`: the packaged extension in VS Code's own editor.

FOLDER gets a code-server and playwright-core from npm (300 MB, a minute) unless it has them.
Chromium opens a file that has a mistake; the page must show what the language server says of it.
`make test-extras` runs this.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

SCRIPT = Path(__file__).with_name("code_server.mjs")
NATIVE = ("@vscode/spdlog", "native-watchdog", "@parcel/watcher", "kerberos", "argon2")
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


def npm(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["npm", *arguments, "--silent", "--no-audit", "--no-fund"], cwd=folder, check=True
    )


def install(folder: Path) -> Path:
    """Install what is missing; the script that starts code-server.

    Debian's libkrb5-dev, libsecret-1-dev, libx11-dev and libxkbfile-dev are needed.
    """
    entry = folder / "node_modules/code-server/out/node/entry.js"
    if entry.exists() and (folder / "node_modules/playwright-core").exists():
        return entry
    folder.mkdir(parents=True, exist_ok=True)
    npm(folder, "install", "--ignore-scripts", "code-server@4.100.3", "playwright-core@1")
    editor = folder / "node_modules/code-server/lib/vscode"
    for part in (editor, editor / "extensions"):
        npm(part, "install", "--omit=dev", "--ignore-scripts")
    npm(editor, "rebuild", *NATIVE)
    npm(folder, "rebuild", "argon2")
    return entry


def check_package(vsix: Path) -> None:
    """The package has the bundle and its data, and no sources or modules of others."""
    names = {name for name in zipfile.ZipFile(vsix).namelist() if name.startswith("extension/")}
    wanted = "package.json readme.md LICENSE.txt out/extension.js macaw.tmLanguage.json"
    expected = [*wanted.split(), "language-configuration.json"]
    if names != {f"extension/{name}" for name in expected}:
        sys.exit(f"{vsix} has other files: {sorted(names)}")


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def show(entry: Path, vsix: Path, chromium: str) -> dict[str, object]:
    """What the page shows of a.s."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name).resolve()
        (home / "program").mkdir()
        for file, text in FILES.items():
            (home / "program" / file).write_text(text)
        settings = {
            "macaw.command": [sys.executable, "-m", "macaw"],
            "files.associations": {"*.s": "macaw"},
            "security.workspace.trust.enabled": False,
            "workbench.startupEditor": "none",
        }
        (home / "user/User").mkdir(parents=True)
        (home / "user/User/settings.json").write_text(json.dumps(settings))
        folders: list[str | Path] = [
            "--user-data-dir",
            home / "user",
            "--extensions-dir",
            home / "extensions",
        ]
        config = home / "config.yaml"
        command: list[str | Path] = ["node", entry, *folders, "--config", config]
        environment = {**os.environ, "HOME": str(home)}
        subprocess.run(
            [*command, "--install-extension", vsix],
            check=True,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        port = free_port()
        options = ["--auth", "none", "--disable-telemetry", "--disable-update-check"]
        with subprocess.Popen(
            [*command, *options, "--bind-addr", f"127.0.0.1:{port}"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as server:
            try:
                wait_for(port)
                arguments: list[str | Path] = [
                    f"http://127.0.0.1:{port}",
                    home / "program",
                    home / "program/a.s",
                ]
                done = subprocess.run(
                    ["node", SCRIPT, *arguments, chromium],
                    cwd=entry.parents[4],
                    check=True,
                    capture_output=True,
                    text=True,
                )
            finally:
                server.terminate()
    shown: dict[str, object] = json.loads(done.stdout)
    return shown


def wait_for(port: int) -> None:
    """Wait until something listens at a port. Raises `TimeoutError`."""
    end = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if time.monotonic() > end:
                raise TimeoutError("code-server does not listen") from None
            time.sleep(0.2)
        else:
            return


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
