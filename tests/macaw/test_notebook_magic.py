"""`%load_ext macaw` and `%%macaw` cells, in a shell of IPython in this process."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macaw
from macaw.notebook.cell_magic import run_cell
from tests.macaw.conftest import LAYER

EXIT = ".core cp\nli a7, 93\nli a0, 0\necall\n"
DOUBLE = """.device tiny
.input x, int8, 4
.output y, int8, 4
.core cp
la a0, x
la a1, y
lw a2, 0(a0)
slli a2, a2, 1
sw a2, 0(a1)
li a7, 93
li a0, 0
ecall
"""


class PlainShell:
    """The methods of a shell that the magic uses, without IPython."""

    def __init__(self, **names: Any) -> None:
        self.user_ns = dict(names)
        self.execution_count = 5
        self.registered: list[tuple[Any, str, str]] = []

    def ev(self, expr: str) -> Any:
        return eval(expr, self.user_ns)

    def register_magic_function(self, func: Any, magic_kind: str, magic_name: str) -> None:
        self.registered.append((func, magic_kind, magic_name))


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlainShell:
    monkeypatch.chdir(tmp_path)
    return PlainShell(x=np.arange(4, dtype=np.int8), np=np)


def coloured_error_of(shell: PlainShell, line: str, cell: str) -> str:
    """The text of a cell's error, with colours."""
    with pytest.raises(Exception) as caught:
        run_cell(shell, line, cell)
    return "\n".join(caught.value._render_traceback_())  # type: ignore[attr-defined]


def error_of(shell: PlainShell, line: str, cell: str) -> str:
    """The text of a cell's error, without colours."""
    return re.sub(r"\x1b\[[\d;]*m", "", coloured_error_of(shell, line, cell))


def test_a_cell_runs(shell: PlainShell) -> None:
    run = run_cell(shell, "-i x", DOUBLE)
    assert isinstance(run, macaw.Run)
    assert run.outputs["y"].tolist() == [0, 2, 4, 6]
    assert run_cell(shell, "-i x -q -r answer -p made", DOUBLE) is None
    assert shell.user_ns["answer"].outputs["y"].tolist() == [0, 2, 4, 6]
    assert shell.user_ns["made"].device == "tiny"
    run = run_cell(shell, "-i 'x=np.array([3, 2, 1, 0], np.int8)'", DOUBLE)
    assert isinstance(run, macaw.Run)
    assert run.outputs["y"].tolist() == [6, 4, 2, 0]


def test_a_cell_that_only_assembles(shell: PlainShell) -> None:
    program = run_cell(shell, "--no-run", DOUBLE)
    assert isinstance(program, macaw.Program)
    assert [item.name for item in program.inputs] == ["x"]
    assert run_cell(shell, "--no-run --quiet -p program", DOUBLE) is None
    assert shell.user_ns["program"] == program


def test_device_engine_limit_and_jitter(shell: PlainShell) -> None:
    shell.user_ns["mine"] = macaw.configuration("tiny").changed({"pe.rows": 3})
    own = run_cell(shell, "--device mine", EXIT)
    assert isinstance(own, macaw.Run)
    assert own.device.config["pe.rows"] == 3
    other = run_cell(shell, "--device large --engine reference --jitter 4", EXIT)
    assert isinstance(other, macaw.Run)
    assert (other.device.config["pe.rows"], other.device.engine) == (
        macaw.configuration("large")["pe.rows"],
        "reference",
    )
    assert other.device.jitter == 4
    assert "cycle limit" in error_of(shell, "--max-cycles 5", ".core cp\nlo: j lo\n")


def test_a_cell_reads_files_of_the_folder(shell: PlainShell, tmp_path: Path) -> None:
    (tmp_path / "more.s").write_text("li a0, 7\n")
    run = run_cell(shell, "", '.core cp\nli a7, 93\n.include "more.s"\necall\n')
    assert isinstance(run, macaw.Run)
    assert run.exit_code == 7


def test_errors_of_the_assembler_point_into_the_cell(shell: PlainShell) -> None:
    """Errors of the assembler point into the cell; the line of the magic is line 1."""
    text = error_of(shell, "", ".core cp\nlw a0, nowhere\nfrob a0\n")
    assert text == (
        "In[5]:3:8: error: undefined symbol 'nowhere'\n"
        "    lw a0, nowhere\n"
        "           ^^^^^^^\n"
        "In[5]:4:1: error: cp has no instruction 'frob'\n"
        "    frob a0\n"
        "    ^^^^\n"
        "    hint: 'macaw isa cp' lists what it has"
    )


def test_hints_and_registers_of_errors_are_blue(shell: PlainShell) -> None:
    """Hints and registers in errors are blue: cyan cannot be read on Jupyter's light red."""
    text = coloured_error_of(shell, "", ".core cp\nlw a0, nowhere\nslii a0\n")
    assert "\x1b[34ma0\x1b[0m" in text
    assert "\x1b[34m    hint: did you mean 'srli'?\x1b[0m" in text
    assert "\x1b[36m" not in text


def test_many_errors_are_cut(shell: PlainShell) -> None:
    assert error_of(shell, "", ".core cp\n" + "frob\n" * 150).endswith(
        "macaw: 50 more errors not shown"
    )


def test_a_fault_points_into_the_cell(shell: PlainShell) -> None:
    text = error_of(shell, "", ".core cp\nlw a0, 2(zero)\n")
    assert text.startswith("In[5]:3:1: fault: cp: misaligned access at 0x00010000, cycle 0: ")
    assert text.endswith("    lw a0, 2(zero)\n    ^^")


def test_a_warning_is_printed(shell: PlainShell, capsys: pytest.CaptureFixture[str]) -> None:
    run_cell(shell, "", f'{EXIT}.warning "careful"\n')
    assert "In[5]:6:1: warning: careful" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "1 input not given: x\nhint: -i x binds the variable x, -i x=EXPR a value"),
        ("-i x=z", "-i 'x=z': NameError: name 'z' is not defined\nhint: the value is a Python expression"),
        ("-i x=", "-i 'x=' is not NAME or NAME=EXPRESSION"),
        ("-i =x", "-i '=x' is not NAME or NAME=EXPRESSION"),
        ("-i x -i x=1", "-i: input x is given twice"),
        ("-i x=x[:3]", "input x is 4, the array given is 3\nhint: 4, or one more leading axis to run the program once an item"),
        ("-i x -i z=x", "the program has no input 'z'\nhint: its inputs are x (int8, 4)"),
        ("-i x -r 1a", "--result '1a': this is no name of a variable"),
        ("-i x -p a.b", "--program 'a.b': this is no name of a variable"),
        ("-i x -r class", "--result 'class': this is no name of a variable"),
        ("-i x --device tinny", "no device is called 'tinny', there are aim, base, "),
        ("-i x --device x", "device is the name or the file of a device, or a Configuration, not a value of type"),
        ("-i x --engine slow", "Invalid value for '--engine': 'slow' is not one of 'fast', 'reference'."),
        ("-i x --max-cycles 0", "Invalid value for '--max-cycles': 0 is not in the range x>=1."),
        ("--bogus", "No such option '--bogus'."),
        ("more", "Got unexpected extra argument (more)"),
        ("-i 'x", "%%macaw -i 'x: no closing quotation"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_options(shell: PlainShell, line: str, message: str) -> None:
    assert error_of(shell, line, DOUBLE).startswith(f"macaw: error: {message}")


def test_the_help_is_the_magic_s_docstring(shell: PlainShell) -> None:
    macaw.load_ipython_extension(shell)
    ((function, kind, name),) = shell.registered
    assert (kind, name) == ("cell", "macaw")
    for option in ("--input", "-i", "--result", "--program", "--device", "--engine", "--max-cycles",
                   "--jitter", "--no-run", "--quiet"):  # fmt: skip
        assert (option in function.__doc__) is (option != "--input")
    assert function("-i x", DOUBLE).exit_code == 0


@pytest.fixture
def ipython() -> Iterator[Any]:
    """A shell of IPython in this process."""
    reason = "needs the extra notebook, which `make setup` installs for one Python"
    module = pytest.importorskip("IPython.core.interactiveshell", reason=reason)
    shell_type = module.InteractiveShell
    shell = shell_type.instance()
    yield shell
    shell_type.clear_instance()


@pytest.mark.once
def test_ipython_shows_html_and_errors(ipython: Any, capsys: pytest.CaptureFixture[str]) -> None:
    ipython.run_line_magic("load_ext", "macaw")
    ipython.user_ns["x"] = np.load(LAYER / "x.npy")
    done = ipython.run_cell(f"%%macaw -r r\n{EXIT}")
    assert done.success
    formatted, _ = ipython.display_formatter.format(done.result)
    assert formatted["text/plain"] == "<run: 3 cycles, exit code 0>"
    assert formatted["text/html"].startswith('<div class="macaw">')
    capsys.readouterr()
    failed = ipython.run_cell("%%macaw\nfrob\n", store_history=True)
    assert not failed.success
    shown = capsys.readouterr()
    assert f"In[{failed.execution_count}]" in shown.out + shown.err
    assert "Traceback" not in shown.out + shown.err
    assert "cell_magic.py" not in shown.out + shown.err


def test_a_class_gets_its_html_when_a_public_name_is_used() -> None:
    """A class gets its HTML when a public name is used, without IPython and the extension."""
    code = (
        "import macaw, sys\n"
        "p = macaw.assemble(macaw.Source('.core cp\\n nop\\n'))\n"
        "assert 'macaw.notebook' not in sys.modules and 'numpy' not in sys.modules\n"
        "assert 'Program' in p._repr_html_()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
