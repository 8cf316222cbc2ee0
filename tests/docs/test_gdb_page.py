"""docs/gdb.md: each claim is tested with gdb or the protocol; gdb accepts its commands."""

from __future__ import annotations

import re

from docs.shown import ROOT, page
from tests.debugger.gdb_client import serving
from tests.debugger.programs import session

TEXT = page("gdb").read_text("utf-8")
SCRIPTS = " ".join(x.read_text("utf-8") for x in (ROOT / "tests/debugger/gdb_runs").glob("*.gdb"))


def test_each_command_of_gdb_is_in_a_script_or_test() -> None:
    part = TEXT.split("## What gdb can do", 1)[1].split("## Everything else", 1)[0]
    runs = (ROOT / "tests/debugger/test_gdb_runs.py").read_text("utf-8")
    stub = (ROOT / "tests/debugger/test_gdb_stub.py").read_text("utf-8")
    tested = f"{SCRIPTS} {runs}"
    words = set(re.findall(r"`((?:reverse-)?[a-z]+i?)`", part)) - {"b", "h", "w", "d", "macaw"}
    words -= {"rwatch", "awatch"}  # asked by packets
    assert "Z3," in stub
    assert "Z4," in stub
    assert len(words) > 12
    assert [word for word in sorted(words) if not re.search(rf"\b{word}\b", tested)] == []


def test_the_commands_of_monitor_are_those_of_the_debugger() -> None:
    lines = re.findall(r"^    \(gdb\) monitor (.+)$", TEXT, re.M)
    assert len(lines) == 3
    with serving(session("layer")) as run:
        for line in lines[:2]:
            assert not run.client.say(line).startswith("error")


def test_the_story_is_in_the_text_of_its_script() -> None:
    block = TEXT.split("(gdb) source .../macaw-gdb.py\n", 1)[1].split("\n\n", 1)[0]
    lines = [line.strip() for line in block.splitlines()]
    text = (ROOT / "tests/debugger/gdb_runs/wrong_shift.txt").read_text("utf-8").splitlines()
    assert len(lines) == 5
    assert [line for line in lines if line not in text] == []
