"""Every kind of fault has a program, `tests/faults/*.s`, whose comments say what must happen.

The comments are `#! fault KIND: MESSAGE` or `#! stop REASON: MESSAGE` (a pattern for the whole
message), `#! core NAME` (a pattern), `#! max-cycles N`, `#! warns` if the assembler warns, and
`#! here` after the line that causes the fault.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import macaw
from macaw.cli import run_command
from macaw.errors import RunError
from macaw.isa import common, registry
from macaw.isa.model import Core
from tests.tree_copies import PYTHON_PATH

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "faults"
SOURCES = sorted(FOLDER.glob("*.s"))
MOST_CYCLES = 10_000
OTHER_STOPS = {"deadlock", "cycle limit", "breakpoint"}


@dataclass
class Expected:
    """The result that a source's comments demand."""

    reason: str = ""
    kind: str = ""
    message: str = ""
    core: str = "cp"
    max_cycles: int = MOST_CYCLES
    warns: bool = False
    line: int | None = None


def expected(path: Path) -> Expected:
    """Read the comments of a source."""
    found = Expected()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        _, mark, text = line.partition("#! ")
        word, _, rest = text.partition(" ")
        if word in ("fault", "stop"):
            name, _, found.message = rest.partition(": ")
            found.reason, found.kind = ("fault", name) if word == "fault" else (name, "")
        elif word == "core":
            found.core = rest
        elif word == "max-cycles":
            found.max_cycles = int(rest)
        elif word == "warns":
            found.warns = True
        elif word == "here":
            found.line = number
        else:
            assert not mark, f"{path.name}:{number}: no mark '{word}'"
    assert found.message, f"{path.name} says nothing of itself"
    return found


@pytest.fixture(autouse=True)
def in_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make messages name `deadlock.s` without the folder of the repository."""
    monkeypatch.chdir(FOLDER)


def kinds(core: Core) -> set[str]:
    """The kinds of faults in a core's table."""
    return {row.name for row in core.faults}


def failure(name: str) -> RunError:
    with pytest.raises(RunError) as caught:
        macaw.run(macaw.assemble(name), max_cycles=expected(FOLDER / name).max_cycles)
    return caught.value


@pytest.mark.parametrize("name", [path.name for path in SOURCES])
def test_fault(name: str) -> None:
    """Each program ends with the fault or stop that its comments name.

    Some faults are about locks and isolated islands (seed 004 ¶50, ¶54).
    """
    wanted = expected(FOLDER / name)
    program = macaw.assemble(name)
    assert bool(program.warnings) == wanted.warns, program.warnings
    error = failure(name)
    stop = error.stop
    assert stop.reason == wanted.reason, str(stop)
    assert error.device.stopped is (stop if stop.reason == "fault" else None)
    if not wanted.kind:
        assert re.fullmatch(wanted.message, str(error)), str(error)
        return
    # The message: source line, core, kind, program counter, cycle, and the values.
    place = rf"{re.escape(name)}:{wanted.line}:\d+: " if wanted.line else ""
    head = rf"{place}{wanted.core}: {wanted.kind} at 0x[0-9a-f]{{8}}, cycle \d+: "
    assert re.fullmatch(head + wanted.message, str(error)), str(error)
    assert str(error).isprintable()
    # The same for a program.
    fault = stop.fault
    assert fault is not None
    assert fault.kind == wanted.kind
    assert fault.values
    assert fault.cycle == stop.cycle == error.device.cycle
    assert fault.address is not None
    assert f"{fault.address:#010x}, cycle {fault.cycle}: " in str(error)
    at = program.line_at(fault.address)
    assert (at.line if at else None) == wanted.line
    assert fault.kind in kinds(error.device.cores[str(fault.core)].table)


@pytest.mark.few(30)
@pytest.mark.parametrize("name", [path.name for path in SOURCES])
def test_the_command_says_it_and_fails(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = expected(FOLDER / name)
    limit = ["--max-cycles", str(wanted.max_cycles)]
    assert run_command(["run", name, *limit]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    text = " ".join(said.err.split())
    if wanted.line is not None:
        source = (FOLDER / name).read_text().splitlines()[wanted.line - 1]
        assert f"{name}:{wanted.line}:" in text
        assert " ".join(source.split()) in text
        assert "^" in text
    message = wanted.message if wanted.kind else wanted.message.removeprefix(f"{wanted.reason}: ")
    assert re.search(message, text), text
    assert (wanted.kind or wanted.reason) in text
    assert run_command(["run", name, *limit, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["stop"] == wanted.reason
    if wanted.kind:
        assert found["fault"]["kind"] == wanted.kind


def test_as_a_process_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "macaw", "run", "store_overflow.s"],
        capture_output=True,
        text=True,
        cwd=FOLDER,
        env={"PYTHONPATH": PYTHON_PATH},
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "store_overflow.s:15:11: fault: pe[0]: store overflow at " in done.stderr


@pytest.mark.parametrize("core", registry.cores(), ids=lambda core: core.name)
def test_a_kind_that_the_code_of_a_core_names_is_in_its_table(core: Core) -> None:
    """Each kind of fault that the code of a core raises is in the core's table.

    If a core's fault is raised in the code of another core, `test_fault` covers it.
    """
    every = {name for table in registry.cores() for name in kinds(table)}
    named = {
        text.value
        for path in (ROOT / "emu" / registry.module(core.name)).glob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func).lower().endswith("fault")
        for text in ast.walk(call)
        if isinstance(text, ast.Constant) and text.value in every
    }
    assert named <= kinds(core)


def test_every_kind_has_a_program() -> None:
    """Each kind of fault in a table has a program here."""
    declared = {name for core in registry.cores() for name in kinds(core)}
    found = [expected(path) for path in SOURCES]
    assert {item.kind for item in found if item.kind} == declared
    assert {item.reason for item in found if not item.kind} == OTHER_STOPS


def test_a_kind_is_raised_by_each_core_that_declares_it() -> None:
    shared = {row.name for row in common.FAULTS}
    raised = {(item.core[:2], item.kind) for item in map(expected, SOURCES)}
    for core in registry.cores():
        own = kinds(core) - shared
        assert own <= {kind for name, kind in raised if core.name.startswith(name)}, core.name
