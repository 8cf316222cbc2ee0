"""The server for editors, driven by VS Code's client for tests of debug adapters.

npm installs the client from tests/debugger/testsupport/package-lock.json; its script client.mjs sends
every request that the server announces.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from macaw.debugger.dap.capabilities import capabilities
from tests.debugger.programs import of_source
from tests.debugger.running import printed

FOLDER = Path(__file__).with_name("testsupport")
LOOP = """\
        .device tiny
        .core   cp
_start: li      s0, 10
        la      s1, data
        call    fill
        call    finish
        li      a7, 93
        ecall
fill:   sw      s0, 4(s1)
        addi    s0, s0, -1
        bne     s0, zero, fill
        ret
finish: li      a0, 7
        ret
fault:  li      t0, 0x70000000
        lw      t1, 0(t0)
        .section .data.cp
        .align  2
data:   .word   0, 0
"""


def installed(folder: Path) -> None:
    """Install the client, or skip the test if that is impossible."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are missing")
    for file in ("package.json", "package-lock.json"):
        shutil.copy(FOLDER / file, folder)
    done = subprocess.run(
        [npm, "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=folder, check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"npm cannot install the client: {done.stderr[-300:]}")


@pytest.mark.once
@pytest.mark.may_skip_in_ci  # CI installs no npm; make test-extras needs it anyway
def test_every_announced_request_by_the_client_of_vs_code(tmp_path):
    installed(tmp_path)
    source = tmp_path / "loop.s"
    source.write_text(LOOP)
    macaw = tmp_path / "macaw"  # the client starts a program with one argument
    macaw.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m macaw "$@"\n')
    macaw.chmod(0o755)
    done = subprocess.run(
        ["node", FOLDER / "client.mjs", macaw, tmp_path],
        cwd=tmp_path, check=False, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown.pop("capabilities") == capabilities()
    debug = of_source(LOOP)
    debug.break_("test.s:9", "s0 == 8")
    debug.cont()
    why = printed(debug, "why s0").replace("test.s", "loop.s")
    assert shown.pop("why") == why
    lines = [row["line"] for row in shown.pop("locations")["breakpoints"]]
    assert set(range(3, 17)) <= set(lines)
    assert shown.pop("disassembly") == ["sw s0, 4(s1)", "addi s0, s0, -1"]
    assert shown.pop("cause").startswith("s0 cp.s0 = 0: cp addi s0, s0, -1 at cycle ")
    assert shown == {
        "sources": [str(source)], "breakpoints": [[True, 9], [True, 11]], "text": LOOP,
        "entry": 3, "next": 4, "in": 4, "back": 4, "hit": 9, "s0": "8", "set": "24",
        "expression": "25", "hover": "25", "completions": ["reverse-continue"], "memory": "41420000",
        "data": 10, "instruction": 9, "goto": 15, "fault": 16, "exception": "out-of-range access",
        "restart": 3, "call": 13, "out": 7, "exit": 8, "grid": 4,
        "queues": ["weights", "input", "q1", "q2", "output"],
    }  # fmt: skip


def test_the_client_drives_every_request_that_is_announced():
    """The client's script uses each announced request, by a method or as a custom request."""
    script = (FOLDER / "client.mjs").read_text("utf-8")
    names = [
        name.removeprefix("supports").removesuffix("Request")
        for name in capabilities()
        if name.endswith("Request")
    ]
    names += ["SetVariable", "SetExpression", "StepBack", "ReverseContinue", "SetDataBreakpoints",
              "SetFunctionBreakpoints", "SetExceptionBreakpoints", "SetInstructionBreakpoints",
              "Macaw/queues", "Macaw/grid", "Macaw/why"]  # fmt: skip
    for name in names:
        word = name[0].lower() + name[1:]
        assert f"client.{word}Request(" in script or f'send("{word}"' in script, word
