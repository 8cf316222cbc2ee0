"""The command: help, wrong command lines, errors, exit statuses. No traceback reaches a user."""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import onnx
import pytest

from macaw import cli
from macaw.errors import InputError
from macaw.isa import config
from tests.lowering.net.models import ModelBuilder
from tests.macaw.command_runs import run_here


def macaw(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_here(arguments, Path.cwd(), environment)


def test_help_names_every_command() -> None:
    done = macaw("--help")
    assert done.returncode == 0
    for name in cli.COMMANDS:
        assert f"\n  {name} " in done.stdout
    assert "Exit status: 0 done" in done.stdout


def test_help_shows_the_short_help_of_each_command() -> None:
    context = click.Context(cli.cli)
    for name, text in cli.COMMANDS.items():
        command = cli.cli.get_command(context, name)
        assert command is not None
        assert command.short_help == text, name


def test_the_end_of_the_process_runs_its_exit_functions_and_writes_everything() -> None:
    code = (
        "import atexit, gc, sys; from macaw.cli import main\n"
        "atexit.register(lambda: sys.stderr.write(f'left, collecting: {gc.isenabled()}'))\n"
        "main(sys.argv[1:])"
    )

    def ended(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    listed = ended("device", "base")
    assert (listed.returncode, listed.stderr) == (0, "left, collecting: False")
    assert len(listed.stdout) > 1 << 13  # more than a buffer
    missing = ended("run", "missing.s")
    assert missing.returncode == 2
    assert missing.stderr.endswith("left, collecting: True")


def test_the_threads_of_blas_get_a_spinning_time_unless_the_user_gives_one() -> None:
    name = "OPENBLAS_THREAD_TIMEOUT"
    code = (
        "import atexit, os, sys; from macaw.cli import main\n"
        f"atexit.register(lambda: sys.stderr.write(os.environ['{name}']))\n"
        "main(['--version'])"
    )
    others = {key: value for key, value in os.environ.items() if key != name}
    for given, expected in (({}, "20"), ({name: "26"}, "26")):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, env=others | given)
        assert done.stderr == expected


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(name: str) -> None:
    done = macaw(name, "-h")
    assert done.returncode == 0
    assert done.stdout.startswith(f"Usage: macaw {name} ")


def test_without_a_command_the_first_steps_are_shown(tmp_path: Path) -> None:
    """Without a command, `macaw` shows first steps that a user can type one after another."""
    done = macaw()
    assert (done.returncode, done.stdout) == (2, "")
    steps = re.findall(r"macaw (\S+ \S+)", done.stderr)
    assert [step.split()[0] for step in steps] == [
        "new",
        "run",
        "profile",
        "debug",
        "estimate",
        "help",
    ]
    builder = ModelBuilder(0, (1, 1, 4, 4))
    builder.conv("only", 2, 1)
    onnx.save(builder.model(), tmp_path / "net.onnx")
    for step in steps:
        taken = run_here(step.split(), tmp_path, text="quit\n")
        assert taken.returncode == 0, (step, taken.stderr)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["assm"], "no command 'assm'; did you mean 'asm'?"),
        (["nothing"], "no command 'nothing'"),
        (["--nothing"], "No such option '--nothing'"),
        (["--plain", "run", "a.s"], "hint: the options of a command come after its name\n"),
        (["sweep", "a.s"], "--set says what differs, for example --set dist.bus_bytes=16,32,64"),
        (["sweep", "a.s", "--set", "pe.rows=1..4"], "--set has no ranges; it lists values: --set"),
        (["asm"], "Missing argument 'FILE...'"),
        (["asm", "a.s", "--format", "coff"], "'coff' is not"),
        (["run", "a.s", "-i", "x"], "'x' is not NAME=FILE"),
        (["run", "a.s", "-i", "x="], "'x=' is not NAME=FILE"),
        (["run", "a.s", "-i", "x=a", "-i", "x=b"], "x is given twice"),
        (["run", "a.s", "-o", "x=a", "-o", "y=a"], "two outputs cannot both go to a"),
        (["run", "a.s", "-o", "x=a", "-o", "y=./a"], "two outputs cannot both go to ./a"),
        (["run", "a.s", "--max-cycles", "0"], "0 is not in the range"),
        (["run", "a.s", "--max-cycles", "many"], "'many' is not a valid integer"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_command_line(arguments: list[str], message: str) -> None:
    done = macaw(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["asm", "none.s"], "none.s"),
        (["dis", "none.elf"], "cannot read none.elf: No such file or directory"),
        (["run", "none.s"], "cannot read none.s: No such file or directory"),
        (["test", "none"], "none: no such folder"),
        (
            ["test", __file__],
            "test_cli.py is a file, not a folder\nhint: a golden test is a folder",
        ),
        (["isa", "vsplat"], "there are vsplat.b, vsplat.h, vsplat.w, vsplat.d, vsplat.f16"),
        (["isa", "vdiv"], "nothing is called 'vdiv'\nhint: there is vdiv.f32\n"),
        (["isa", "nothing-like-it"], "nothing is called 'nothing-like-it'"),
        (["isa", "bus", "width"], "'bus width' is in the meaning of dist.bus_bytes"),
        (["isa", "clock"], "fim.alu.or, fim.alu.xor and 9 more"),
        (["isa", "of"], "nothing is called 'of'\nhint: `macaw isa` lists all"),
        (["isa", "sparse"], "hint: did you mean '.sparse'?\n"),
        (["isa", "cp.mac"], "nothing is called 'cp.mac'"),
        (["isa", "cq.mac"], "nothing is called 'cq.mac'"),
        (["isa", ""], "the NAME is empty"),
        (["isa", "--core", ""], "the name after --core is empty"),
        (["isa", "--core", "cq"], "no core is called 'cq'"),
        (["device", "tinny"], "no device is called 'tinny'"),
        (["device", "none.toml"], "none.toml: cannot be read: No such file or directory"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_input(arguments: list[str], message: str) -> None:
    done = macaw(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


class Failing(click.Command):
    """A command that raises the exception of the test."""

    error: BaseException = RuntimeError("the cat is on the mat")

    def invoke(self, ctx: click.Context) -> int:
        raise self.error


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    command = Failing("isa")
    monkeypatch.setattr(cli.LazyGroup, "get_command", lambda *_: command)
    monkeypatch.delenv("MACAW_DEBUG", raising=False)
    return command


def status_of(failing: Failing, error: BaseException) -> int:
    failing.error = error
    return cli.run_command(["isa"])


def test_an_unforeseen_error_is_one_sentence(
    failing: Failing, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of(failing, RuntimeError("the cat is on the mat")) == 2
    text = capsys.readouterr().err
    assert text.startswith(
        "macaw: error: internal error: RuntimeError: the cat is on the mat\nhint:"
    )
    assert "macaw --debug" in text
    assert "Traceback" not in text


@pytest.mark.parametrize("arguments", [["--debug", "isa"], ["isa"]])
def test_debug_shows_the_traceback(
    failing: Failing, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    if "--debug" not in arguments:
        monkeypatch.setenv("MACAW_DEBUG", "1")
    with pytest.raises(RuntimeError, match="the cat is on the mat"):
        cli.run_command(arguments)


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (KeyboardInterrupt(), 130, "\nmacaw: interrupted\n"),
        (InputError("bad", "better"), 2, "macaw: error: bad\nhint: better\n"),
        (
            OSError(28, "No space left on device", "out"),
            2,
            "macaw: error: out: No space left on device\n",
        ),
        (MemoryError(), 2, "macaw: error: out of memory\n"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_foreseen_errors(
    failing: Failing,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    status: int,
    text: str,
) -> None:
    assert status_of(failing, error) == status
    assert capsys.readouterr().err == text


def test_a_reader_that_goes_away_is_no_error() -> None:
    done = subprocess.run(
        f"'{sys.executable}' -m macaw device base | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == 'name = "base"\n'
    assert done.stderr == ""


def test_isa_describes_an_instruction() -> None:
    done = macaw("isa", "mac")
    assert done.returncode == 0
    assert done.stdout.startswith("mac base=0, acc=0, [balance], [sfu]")
    assert macaw("isa", "MAC").stdout == done.stdout


def test_isa_without_a_name_lists_every_core() -> None:
    done = macaw("isa")
    for text in ("cp: ", "pe: sparse PE array", " remu", " dispatch", " beqz", " packet"):
        assert text in done.stdout


@pytest.mark.once
@pytest.mark.parametrize(
    ("words", "starts"),
    [
        (["deadlock"], "deadlock "),
        (["dist.bus_bytes"], "dist.bus_bytes "),
        (["gr3"], "gp, x3, gr3 "),
        (["pe.Q1"], "q1 "),
        (["imbalance"], "imbalance  "),
        (["t_begin"], "t_begin  "),
        ([".seq"], ".seq NAME, "),
        ([".byte"], ".byte value, ... "),
        (["%hi"], "%hi(value) "),
        (["segment", "mismatch"], "segment mismatch "),
        (["Packet"], "packet "),
        (["pe"], "pe: sparse PE array"),
    ],
    ids=str,
)
def test_isa_finds_whatever_has_a_name(words: list[str], starts: str) -> None:
    done = macaw("isa", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(starts)


def test_a_cause_has_its_advice_if_there_is_one() -> None:
    """`macaw isa` prints the advice for a cause, such as imbalance, if the cause has advice."""
    assert "  Advice      Give the units of a step equal work: " in macaw("isa", "imbalance").stdout
    assert macaw("isa", "tail").stdout.endswith("  Part of     idle\n")
    assert "Advice" not in macaw("isa", "tail").stdout


def test_device_without_a_name_lists_the_devices() -> None:
    done = macaw("device")
    assert done.returncode == 0
    *rows, last = done.stdout.splitlines()
    assert [row.split()[0] for row in rows] == list(config.presets())
    assert "base       The default device: 256 PEs; every setting has its default." in rows
    assert all(row.endswith(".") and 40 < len(row) <= 100 for row in rows)
    assert last == "`macaw device NAME` prints all settings of one."


def test_isa_lists_directives_too() -> None:
    assert {".byte", ".seq", "%hi", "mac"} <= set(macaw("isa").stdout.split())


def test_isa_of_one_core() -> None:
    assert "pe.load_queue_2" in macaw("isa", "--core", "pe").stdout
    done = macaw("isa", "mac", "--core", "cp")
    assert done.returncode == 2
    assert done.stderr == "macaw: error: core cp has no 'mac'\nhint: pe has it\n"


def test_isa_guesses() -> None:
    assert "hint: did you mean 'remu'?" in macaw("isa", "remuu").stderr


@pytest.mark.once
@pytest.mark.parametrize("name", ["tiny", "base", "large"])
def test_device_prints_a_file_that_gives_the_same_device(tmp_path: Path, name: str) -> None:
    done = macaw("device", name)
    assert done.returncode == 0
    (tmp_path / "copy.toml").write_text(done.stdout)
    assert macaw("device", str(tmp_path / "copy.toml")).stdout == done.stdout


def test_device_file_with_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text("[pe]\nclusters = 99\n")
    done = macaw("device", str(tmp_path / "d.toml"))
    assert done.returncode == 2
    assert done.stderr.endswith("d.toml: pe.clusters: 99 is out of range, 1 to 32\n")


def test_completion_for_shells() -> None:
    for shell in ("bash", "zsh", "fish"):
        done = macaw(_MACAW_COMPLETE=f"{shell}_source")
        assert done.returncode == 0
        assert "_MACAW_COMPLETE" in done.stdout
    done = macaw(_MACAW_COMPLETE="bash_complete", COMP_WORDS="macaw isa trace_e", COMP_CWORD="2")
    assert done.stdout == "plain,trace_end\n"
