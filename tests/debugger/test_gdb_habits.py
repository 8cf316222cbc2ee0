"""Commands of GDB: each form in the table works as in GDB, or the answer says what to type.

The table is `gdb_habits.toml`. Its forms are the commands in the index of GDB's manual, with
operands that GDB accepts.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from macaw import api
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.gdb_advice import advice_for
from macaw.debugger.commands.gdb_spellings import HABITS
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.table import COMMANDS
from macaw.debugger.commands.text import answer_text
from macaw.debugger.session import Session
from macaw.debugger.user_values import UserValues
from macaw.debugging import DebuggerFiles
from macaw.execution import configuration_of

pytestmark = pytest.mark.once

HERE = Path(__file__).parent
_NUMBER = re.compile(r"^(t?break|[ra]?watch|t?catch|dprintf) \d+:", re.MULTILINE)  # of a point
SOURCE = "gdb_habits.s"


def table() -> dict[str, dict[str, Any]]:
    """The forms of the table, or an empty dict if the file does not exist yet."""
    path = HERE / "gdb_habits.toml"
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


TABLE = table()


@cache
def session() -> Session:
    """One session for all forms."""
    program = api.assemble(SOURCE)
    return Session(program, configuration_of(program), {})


UNCHANGED: list[Interpreter] = []  # the last one of `fresh`, if it has had errors alone


def fresh() -> Interpreter:
    """An interpreter that has stopped at `deep` and is otherwise new."""
    UNCHANGED.clear()
    debug = session()
    debug.set_focus("cp")
    debug.points.clear()
    vars(debug.user_values).update(vars(UserValues()))
    debug.restart_program()
    debug.set("cp.s0", 3)  # the loop ends soon, even if a form jumps there
    debug.advance("deep")
    return Interpreter(debug, DebuggerFiles())


def ask(interpreter: Interpreter, line: str) -> tuple[Answer, str]:
    """The answer to a line, and its text."""
    answer = interpreter.execute(line)
    return answer, _NUMBER.sub(r"\1 N:", answer_text(answer, line))


@pytest.fixture(autouse=True)
def _folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)


@pytest.mark.parametrize("form", TABLE["same"])
def test_a_form_of_gdb_is_a_line_of_this_debugger(form: str) -> None:
    ours = TABLE["same"][form]
    answer, text = ask(fresh(), form)
    other, expected = ask(fresh(), ours)
    assert (answer.kind, answer.message, answer.hint) == (other.kind, other.message, other.hint)
    assert answer.kind == "error" or text == expected


@pytest.mark.parametrize("form", TABLE["works"])
def test_a_form_of_gdb_works(form: str) -> None:
    answer, text = ask(fresh(), form)
    assert answer.kind != "error", text
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    expected = TABLE["works"][form]
    assert lines[: len(expected)] == expected


@pytest.mark.parametrize("form", TABLE["says"])
def test_a_form_of_gdb_is_answered_with_what_to_type(form: str) -> None:
    interpreter = UNCHANGED.pop() if UNCHANGED else fresh()
    answer, _ = ask(interpreter, form)
    said = f"{answer.message} / {answer.hint}" if answer.hint else answer.message
    assert (answer.kind, said) == ("error", TABLE["says"][form])
    UNCHANGED.append(interpreter)


def test_the_table_has_the_forms_that_everybody_types() -> None:
    """The table has the forms of GDB's commands below, and more than 188 forms."""
    everybody = (
        "ni nexti frame f up jump starti kill printf ptype whatis show print list disas clear "
        "find call return reverse-finish thread apropos info layout tui focus display"
    )  # $, define, commands ... end, pwd and cd have tests in test_gdb_scripts.py
    forms = [form for part in TABLE.values() for form in part]
    assert set(everybody.split()) <= {form.split()[0].partition("/")[0] for form in forms}
    assert len(forms) > 188


def test_no_advice_takes_the_place_of_an_error_of_our_own_commands() -> None:
    """If an operand of a Macaw command is wrong, the error is the command's own.

    Only `call` has advice for GDB's users instead.
    """
    operands = [row for row in COMMANDS.values() if row.usage != row.name]
    names = {name for row in operands for name in row.names}
    assert {name for name in names if advice_for(f"{name} zz")} == {"call"}


def test_each_form_of_the_help_works_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()  # it reads the source of this folder
    monkeypatch.chdir(tmp_path)
    refused = ("catch throw", "dump binary value F y")  # GDB's commands; the answer names Macaw's
    for gdb, here in HABITS:
        for form in [*gdb.split(", "), *here.split(", ")]:
            if form != "no command of GDB":
                interpreter = fresh()
                for earlier in ("stepi", "set $foo = 1", "print 7", "checkpoint"):
                    interpreter.execute(earlier)
                line = form.replace("thread N", "thread 0").replace("focus NAME", "focus cp")
                line = line.replace("thread 0 or focus cp", "thread 0").replace("PLACES", "cp")
                answer = interpreter.execute(line)
                assert (answer.kind == "error") == (form in refused), (form, answer)


def test_help_gdb_shows_the_table() -> None:
    assert fresh().execute("help gdb").rows == HABITS
