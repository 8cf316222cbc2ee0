"""`python -m tests.editors FOLDER`: VS Code's engine in FOLDER agrees with `textmate`.

`make test-extras` installs it (npm: vscode-textmate, vscode-oniguruma) and runs this.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from macaw.asm.editors import textmate
from tests.editors.textmate import Engine
from tests.editors.view import ROOT, samples


def flat(pieces: list[tuple[int, int, str]], length: int) -> list[str]:
    """The scope of each character; characters without one have the grammar's own scope."""
    found = [textmate.SCOPE] * length
    for start, end, scope in pieces:
        found[start:end] = [scope or textmate.SCOPE] * (min(end, length) - start)
    return found


def main(folder: str) -> None:
    files = [str(path) for path in samples()]
    script = Path(__file__).with_name("vscode.mjs")
    grammar = ROOT / "editors/vscode/macaw.tmLanguage.json"
    done = subprocess.run(
        ["node", script, grammar, *files], cwd=folder, check=True, capture_output=True, text=True
    )
    lines = 0
    for name, theirs in zip(files, json.loads(done.stdout), strict=True):
        engine = Engine(textmate.grammar())
        for number, (text, pieces) in enumerate(
            zip(Path(name).read_bytes().decode("utf-8").split("\n"), theirs, strict=True), 1
        ):
            lines += 1
            mine = flat(engine.line(text), len(text))
            if mine != flat(pieces, len(text)):
                sys.exit(
                    f"{name}:{number}: VS Code's engine says otherwise: {text}\n{pieces}\n{mine}"
                )
    print(f"VS Code's engine agrees on {lines} lines of {len(files)} files")


if __name__ == "__main__":
    main(sys.argv[1])
