"""`macaw debug`: scripts, batches as text and JSON, the prompt of lines."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pexpect
import pytest

from macaw.api import load
from macaw.debugging import make_interpreter
from tests.debugger.sources import VERY_LONG_LOOP
from tests.macaw.command_runs import ROOT, run_here

HELLO = str(ROOT / "programs/hello/hello.s")


def macaw(*arguments, input=""):  # noqa: A002 - as of subprocess.run
    return run_here(["debug", *arguments], ROOT, text=input)


def test_batch_as_text_and_as_json_say_the_same():
    plain = macaw(HELLO, "--batch", "-e", "stepi 3", "-e", "continue")
    assert plain.returncode == 0
    assert plain.stdout.splitlines()[0] == "3 steps done at cycle 2"
    assert "Hello from the command processor.\nexit with code 0 at cycle" in plain.stdout
    lines = macaw(HELLO, "--json", input="stepi 3\n\ncontinue\n").stdout.splitlines()
    first, second = map(json.loads, lines)
    assert (first["line"], first["stopped"]["cycle"]) == ("stepi 3", 2)
    assert second["stdout"] == "Hello from the command processor.\n"
    assert second["stopped"]["exit_code"] == 0


def test_an_interpreter_runs_no_shell_commands_by_default():
    """`make_interpreter` permits `shell` and `python` only if its caller asks for that."""
    program = load(HELLO)
    asked = make_interpreter(program, {}, allow_shell=True)
    assert asked.execute("shell echo a").lines == ("a",)
    for line in ("shell echo a", "python print(1)"):
        answer = make_interpreter(program, {}).execute(line)
        assert answer.message == f"{line.split()[0]} is not allowed here"


def test_more_lines_than_are_read_are_refused():
    found = macaw(HELLO, "--batch", input="print 12345678\n" * (1 << 17))
    assert (found.returncode, found.stdout) == (2, "")
    assert "the commands on standard input are more than 1 MiB" in found.stderr


@pytest.mark.once
def test_a_failed_command_ends_a_batch(tmp_path):
    script = tmp_path / "a script"
    script.write_text("stepi\nnothing\nstepi\n")
    found = macaw(HELLO, "--batch", "-x", str(script), "-e", "stepi")
    assert found.returncode == 1
    assert f"{script}:2: no command is called 'nothing'" in found.stderr
    assert found.stdout.startswith("step done at cycle 0\n"), "what was done before it is told"
    assert found.stdout.count("step done") == 1
    assert macaw(HELLO, "--batch", "-e", "quit", "-e", "nothing").returncode == 0


@pytest.mark.once
def test_a_difference_makes_a_batch_fail_at_its_end(tmp_path):
    source, golden, script = (tmp_path / name for name in ("p.s", "golden.npy", "script"))
    source.write_text(".output y, int16, 2, 6\n.core cp\n_start: ebreak\n")
    script.write_text(f"diff y '{golden}'\necho behind\n")
    np.save(golden, np.zeros((2, 6), np.int16))
    assert macaw(str(source), "--batch", "-x", str(script)).returncode == 0
    np.save(golden, np.arange(12, dtype=np.int16).reshape(2, 6))
    found = macaw(str(source), "--batch", "-x", str(script), "-e", "print y[0, 0]")
    assert (found.returncode, found.stderr) == (1, "")
    lines = found.stdout.splitlines()
    assert lines[0].startswith("11 of 12 elements differ, the first is y[0, 1] at ")
    assert lines[2].split() == ["y[0,", "1]", "1", "0"]
    assert lines[-3:] == ["and 3 more", "behind", "y[0, 0] = 0"], "the rest is done"
    record = json.loads(macaw(str(source), "--json", "-x", str(script)).stdout)
    assert [one["differs"] for one in record["answers"]] == [True, False]


@pytest.mark.once
@pytest.mark.parametrize(
    "lines",
    [
        ("break _start+4", "commands 1 nothing", "continue"),
        ("if 1", "break _start+4", "commands nothing", "continue", "end"),
        ("thread apply all nothing",),
    ],
)
def test_a_failed_command_inside_a_line_makes_a_batch_fail_at_its_end(lines):
    found = macaw(HELLO, "--batch", input="\n".join([*lines, "print 5 * 5"]))
    assert found.returncode == 1
    assert "error: no command is called 'nothing'" in found.stdout
    assert found.stdout.splitlines()[-1] == "5 * 5 = 25", "the rest is done"


@pytest.mark.once
def test_a_line_that_fails_in_the_other_run_makes_a_batch_fail_at_its_end(tmp_path):
    other = tmp_path / "other.s"
    other.write_text(Path(HELLO).read_text().replace("text", "words"))
    found = macaw(
        HELLO, "--against", str(other), "--batch", "-e", "break text", "-e", "print 5 * 5"
    )
    assert (found.returncode, found.stdout.splitlines()[-1]) == (1, "5 * 5 = 25")


@pytest.mark.once
def test_inputs_and_items(tmp_path):
    source, array = tmp_path / "p.s", tmp_path / "x.npy"
    source.write_text(".input x, int8, 2\n.core cp\n_start: ebreak\n")
    np.save(array, np.array([[1, 2], [3, 4]], np.int8))
    run = [str(source), "-i", f"x={array}", "--batch", "-e", "print x"]
    assert "[1, 2]" in macaw(*run).stdout
    assert "[3, 4]" in macaw(*run, "--item", "1").stdout
    assert "item 2 is out of range, 0 to 1" in macaw(*run, "--item", "2").stderr
    np.save(array, np.array([1, 2], np.int8))
    assert "no input has a batch axis" in macaw(*run, "--item", "0").stderr
    missing = macaw(str(source), "--batch", "-e", "print x")
    assert (missing.returncode, "1 input not given" in missing.stderr) == (2, True)


def test_ctrl_c_stops_a_long_run(tmp_path):
    source = tmp_path / "loop.s"
    source.write_text(VERY_LONG_LOOP)
    child = subprocess.Popen(
        [sys.executable, "-u", "-m", "macaw", "debug", str(source), "--json"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("print 1\ncontinue\nprint s0\n")
    child.stdin.close()
    assert json.loads(child.stdout.readline())["line"] == "print 1"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    stopped = json.loads(child.stdout.readline())["stopped"]
    assert stopped["reason"] == "interrupt"
    assert json.loads(child.stdout.readline())["rows"][0][1] > 0
    assert child.wait(20) == 130


@pytest.mark.once
def test_ctrl_c_ends_a_server_that_waits_for_gdb() -> None:
    child = subprocess.Popen(
        [sys.executable, "-u", "-m", "macaw", "debug", "--gdb", "0", HELLO],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline().startswith("waiting for gdb")
    child.send_signal(signal.SIGINT)
    assert child.wait(20) == 130


@pytest.mark.once
def test_the_prompt(tmp_path):
    child = pexpect.spawn(
        sys.executable, ["-m", "macaw", "debug", HELLO, "--plain", "-e", "stepi"],
        cwd=ROOT, encoding="utf-8", timeout=30, dimensions=(24, 80),
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
    )  # fmt: skip
    child.expect("step done at cycle")
    child.expect("(macaw)")
    child.send("print 6 * 7\r")
    child.expect("42")
    child.send("stepi 2\r")
    child.expect("2 steps done")
    child.send("\r")
    child.expect("2 steps done")
    child.send("\x03quit\r")
    child.expect(pexpect.EOF)


def test_without_a_terminal_lines_are_read_and_shown_with_their_answers(tmp_path):
    """Lines of a pipe or a file are shown with their answers, without control characters.

    An error does not end the session.
    """
    text = "stepi 2\nnothing\n\nprint a0\nquit\nstepi\n"
    (tmp_path / "lines").write_text(text)
    piped = macaw(HELLO, input=text)
    with (tmp_path / "lines").open() as file:
        read = subprocess.run(
            [sys.executable, "-m", "macaw", "debug", HELLO, "--plain"], stdin=file,
            capture_output=True, text=True, cwd=ROOT, check=False,
        )  # fmt: skip
    for found in (piped, read):
        assert found.returncode == 0
        rows = found.stdout.splitlines()
        asked = [row for row in rows if row.startswith("(macaw)")]
        assert asked == [
            "(macaw) stepi 2",
            "(macaw) nothing",
            "(macaw) ",
            "(macaw) print a0",
            "(macaw) quit",
        ]
        assert rows.index("2 steps done at cycle 1") == rows.index("(macaw) stepi 2") + 1
        assert rows[-2].startswith("a0 = ")
        mark = "  at 'nothing', column 1" if found is read else "  nothing\n  ^^^^^^^"
        assert found.stderr.startswith(f"error: no command is called 'nothing'\n{mark}\n")
        assert "\x1b" not in found.stdout


@pytest.mark.parametrize("arguments", [["/no/such.s"], [HELLO, "--engine", "slow"]])
def test_wrong_command_lines(arguments):
    found = macaw(*arguments, "--batch", "-e", "quit")
    assert found.returncode == 2
    assert "Traceback" not in found.stderr


@pytest.mark.once
def test_what_a_session_was_given_is_not_overwritten(tmp_path):
    """A session overwrites none of its inputs: program, includes, data, device, scripts.

    It does not write to a symbolic link to an input either.
    """
    (tmp_path / "part.inc").write_text("_start: ebreak\n")
    np.save(tmp_path / "w.npy", np.zeros(2, np.int16))
    np.save(tmp_path / "x.npy", np.arange(4, dtype=np.int16))
    (tmp_path / "p.s").write_text(
        '.input x, int16, 4\n.data\n.npy "w.npy"\n.core cp\n.include "part.inc"\n'
    )
    (tmp_path / "script").write_text("print x\n")
    (tmp_path / "alias").symlink_to(tmp_path / "x.npy")
    (tmp_path / "d.toml").write_bytes((ROOT / "isa/presets/tiny.toml").read_bytes())
    given = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    source = str(tmp_path / "p.s")
    session = (source, "-i", f"x={tmp_path / 'x.npy'}", "--device", str(tmp_path / "d.toml"),
               "--plain", "-x", str(tmp_path / "script"))  # fmt: skip
    lines = [f"dump x '{tmp_path / name}'" for name in given]
    # `save breakpoints` may overwrite the script, because both hold commands.
    lines += [f"save breakpoints '{tmp_path / name}'" for name in given if name != "script"]
    found = macaw(*session, input="\n".join(lines))
    refused = [line for line in found.stderr.splitlines() if line.startswith("error: ")]
    assert len(refused) == len(lines)
    assert all(line.endswith(" is an input: it is not overwritten") for line in refused)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == given
    # What commands before have written is replaced.
    other, saved = tmp_path / "y.npy", tmp_path / "saved"
    lines = [f"dump x '{other}'", f"save session '{saved}'", f"source '{saved}'"]
    assert macaw(*session, input="\n".join(lines * 2)).stderr == ""
    assert np.load(other).tolist() == [0, 1, 2, 3]


@pytest.mark.once
def test_numbers_that_are_none_are_values_and_no_end_of_a_batch():
    lines = ("print 1e999", "print -1e999", "print 1e999 - 1e999", "print 1 + 1")
    options = [x for line in lines for x in ("-e", line)]
    found = macaw(HELLO, "--batch", *options)
    assert (found.returncode, found.stderr) == (0, "")
    assert [line.split(" = ")[1] for line in found.stdout.splitlines()] == [
        "inf",
        "-inf",
        "nan",
        "2",
    ]
    records = [json.loads(line) for line in macaw(HELLO, "--json", *options).stdout.splitlines()]
    assert [record["rows"][0][1] for record in records] == ["inf", "-inf", "nan", 2]


# gdb


def test_a_port_that_is_free_is_printed_and_a_program_is_loaded_before_gdb_connects():
    command = [sys.executable, "-m", "macaw", "debug", "--gdb", "0", HELLO]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        first, second = run.stdout.readline(), run.stdout.readline()
        head, _, port = first.strip().rpartition(":")
        assert head == "waiting for gdb: target remote 127.0.0.1"
        assert second.startswith("its command `macaw`: source ")
        assert Path(second.split()[-1]).name == "macaw-gdb.py"
        assert Path(second.split()[-1]).is_file()
        with socket.create_connection(("127.0.0.1", int(port))) as client:
            client.sendall(b"$k#6b")
            assert client.recv(1) == b"+"
        assert run.stdout.read() == "gdb has killed the program\n"
        assert run.wait(30) == 0


def test_gdb_at_standard_input_and_output():
    found = subprocess.run(
        [sys.executable, "-m", "macaw", "debug", "--gdb", "-", HELLO], cwd=ROOT, check=False,
        input=b"$?#3f+", capture_output=True, timeout=100,
    )  # fmt: skip
    assert found.returncode == 0
    assert found.stdout == b"+$T05thread:1;#d7"
    assert found.stderr == b"gdb has closed the connection\n"


def test_what_the_server_cannot_do_is_refused(tmp_path):
    for value in ("x", "65536", "-1", "1.5", "1" * 20, ""):
        found = macaw(HELLO, f"--gdb={value}")
        assert found.returncode == 2
        assert f"'{value[:20]}' is no port: 0 to 65535, or -" in found.stderr
    found = macaw(HELLO, "--gdb", "0", "--batch")
    assert (found.returncode, found.stdout) == (2, "")
    assert "--gdb goes with none of --batch, --json, --plain, -x and -e" in found.stderr
    missing = macaw(str(tmp_path / "none.s"), "--gdb", "0")
    assert missing.returncode == 2
    assert "none.s" in missing.stderr
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        found = macaw(HELLO, "--gdb", str(port))
        assert (found.returncode, found.stdout) == (2, "")
        assert f"port {port} cannot be used: Address already in use" in found.stderr
    found = subprocess.run(
        [sys.executable, "-m", "macaw", "debug", "--gdb", "-", str(tmp_path / "none.s")],
        cwd=ROOT, check=False, input=b"$?#3f", capture_output=True, timeout=100,
    )  # fmt: skip
    assert (found.returncode, found.stdout) == (2, b"+")
    assert b"none.s" in found.stderr
