"""Starts a code-server from npm (VS Code in a browser) with the packaged extension.

`make test-extras` and `make picture` use it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

NATIVE = ("@vscode/spdlog", "native-watchdog", "@parcel/watcher", "kerberos", "argon2")
OPTIONS = ("--auth", "none", "--disable-telemetry", "--disable-update-check")


def npm(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["npm", *arguments, "--silent", "--no-audit", "--no-fund"], cwd=folder, check=True
    )


def install(folder: Path) -> Path:
    """Install what is missing (300 MB, a minute); return the script that starts code-server.

    Needs Debian's libkrb5-dev, libsecret-1-dev, libx11-dev and libxkbfile-dev.
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


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


@contextmanager
def serving(entry: Path, vsix: Path, home: Path, settings: Mapping[str, object]) -> Iterator[str]:
    """Yield the address of a code-server with the extension and these settings, all below `home`.

    The extension calls the macaw of this Python.
    """
    user = {
        "files.associations": {"*.s": "macaw"},
        "security.workspace.trust.enabled": False,
        "workbench.startupEditor": "none",
        **settings,
    }
    # code-server keeps the settings of the machine in a file of its own. In the user's file they
    # would be lost when a session of the debugger starts.
    machine = {"macaw.command": [sys.executable, "-m", "macaw"]}
    for kind, values in (("User", user), ("Machine", machine)):
        (home / "user" / kind).mkdir(parents=True)
        (home / "user" / kind / "settings.json").write_text(json.dumps(values))
    command: list[str | Path] = [
        "node", entry, "--user-data-dir", home / "user", "--extensions-dir", home / "extensions",
        "--config", home / "config.yaml",
    ]  # fmt: skip
    environment = {**os.environ, "HOME": str(home)}
    subprocess.run(
        [*command, "--install-extension", vsix],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    port = free_port()
    with subprocess.Popen(
        [*command, *OPTIONS, "--bind-addr", f"127.0.0.1:{port}"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            wait_for(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def wait_for(port: int) -> None:
    """Wait until a server listens at a port; raise `TimeoutError` after a minute."""
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


def shown_by(script: Path, entry: Path, *arguments: str | Path) -> dict[str, object]:
    """Run a script of playwright-core in code-server's folder; return the JSON that it prints."""
    done = subprocess.run(
        ["node", script, *arguments],
        cwd=entry.parents[4],
        check=True,
        capture_output=True,
        text=True,
    )
    shown: dict[str, object] = json.loads(done.stdout)
    return shown
