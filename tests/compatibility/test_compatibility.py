"""Today's Macaw reads each file of version 0.2.0, or says in one sentence what the user must do."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import macaw
from macaw import golden_description, network_description, protection
from macaw.asm import program
from macaw.debugger.commands import session_format
from macaw.isa import config, format_versions
from macaw.profiling import annotation, model
from macaw.sweeps import point_files, tables
from macaw.sweeps.points import Point
from tests.macaw.command_runs import run_here

FILES = Path(__file__).parent / "0.2.0"
PAGE = Path(__file__).parents[2] / "docs" / "compatibility.md"
VERSIONS = {
    "executable": program.NOTE_VERSION,
    "golden.toml": golden_description.FORMAT,
    "saved session": session_format.FORMAT,
    "profile": model.FORMAT,
    "annotation": annotation.FORMAT,
    "note of orders": protection.FORMAT,
    "net.json": network_description.FORMAT,
    "point of a sweep": point_files.FORMAT,
    "table of a sweep": tables.FORMAT,
    "device file": config.FORMAT,
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A copy of the files of 0.2.0."""
    return shutil.copytree(FILES, tmp_path / "files")


def increase(path: Path, pattern: bytes) -> None:
    """Replace the digit after `pattern` in a file by 9, a version that does not exist yet."""
    data = path.read_bytes()
    changed, count = re.subn(pattern + rb"\d", lambda found: found[0][:-1] + b"9", data)
    assert count == 1
    path.write_bytes(changed)


def test_the_page_has_the_version_of_each_format():
    rows = re.findall(r"^\| (.+?) \| (\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert {name: int(version) for name, version in rows} == VERSIONS


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        (2, None),
        (3, None),
        (4, ("format 4, this Macaw reads formats 2 to 3", "upgrade Macaw, or write it again: X")),
        (1, ("format 1, this Macaw reads formats 2 to 3", "write it again: X")),
        (0, ("its format is not a whole number from 1", "write it again: X")),
        (True, ("its format is not a whole number from 1", "write it again: X")),
        ("2", ("its format is not a whole number from 1", "write it again: X")),
    ],
)
def test_a_version_in_words(version, problem):
    assert format_versions.version_problem(version, 3, "X", 2) == problem


def test_an_executable(files):
    golden = files / "golden"
    run = macaw.run(files / "layer.elf", inputs={"x": np.load(golden / "x.npy")})
    expected = np.load(golden / "weights.npy").astype(int) @ np.load(golden / "x.npy")
    np.testing.assert_array_equal(run.outputs["y"], expected)
    increase(files / "layer.elf", rb'"version": ?')
    with pytest.raises(macaw.MacawError, match="a newer one made the file: upgrade Macaw"):
        macaw.run(files / "layer.elf")


def test_a_golden_test(files):
    assert "1 passed, 0 failed" in run_here(["test", "golden"], files).stdout
    increase(files / "golden" / "golden.toml", b"format = ")
    done = run_here(["test", "golden"], files)
    assert done.returncode
    assert "golden.toml: format 9, this Macaw reads format 1" in done.stdout + done.stderr


def test_a_saved_session(files):
    script = ["debug", "golden", "--batch", "-x", "session.macaw", "-e", "save session now.macaw"]
    done = run_here(script, files)
    assert done.returncode == 0
    assert (files / "now.macaw").read_text("utf-8") == (files / "session.macaw").read_text("utf-8")
    increase(files / "session.macaw", b"# format ")
    done = run_here(script, files)
    text = done.stdout + done.stderr
    assert "session.macaw: format 9, this Macaw reads format 1" in text
    assert "upgrade Macaw, or write it again: `save session`" in text


def test_a_profile(files):
    data = json.loads((files / "profile.json").read_text("utf-8"))
    if data["format"] == model.FORMAT:
        profile = model.from_json(data)
        assert (profile.cycles, profile.program) == (data["cycles"], "exit.s")
    else:
        with pytest.raises(macaw.InputError, match=f"format {data['format']}, this") as old:
            model.from_json(data)
        assert old.value.hint == "write it again: `macaw profile --json FILE`"
    with pytest.raises(macaw.InputError, match="format 999, this") as new:
        model.from_json({**data, "format": 999})
    assert new.value.hint.startswith("upgrade Macaw")


def test_orders(files):
    words = ["protect", "--undo", "shuffled.npy", "-o", "again.npy", "--order", "orders.npy"]
    assert run_here(words, files).returncode == 0
    weights = np.load(files / "golden" / "weights.npy")
    np.testing.assert_array_equal(np.load(files / "again.npy"), weights)
    increase(files / "orders.toml", b"format = ")
    done = run_here(words, files)
    assert "orders.toml: format 9, this Macaw reads format 1" in done.stderr
    assert "upgrade Macaw, or write it again: `macaw protect`" in done.stderr


def test_a_network(files):
    network = macaw.load_network(files / "net")
    run = network.run({"x": np.load(files / "image.npy")})
    assert isinstance(run, macaw.NetworkRun)
    assert [layer.equal for layer in run.layers] == [True]
    increase(files / "net" / "net.json", b'"format": ')
    for words in (["run", "net", "-i", "x=image.npy"], ["debug", "net", "--batch"]):
        done = run_here(words, files)
        assert "net.json: format 9, this Macaw reads formats 1 to 2" in done.stderr


def test_a_device_file(files):
    device = config.load(files / "device.toml")
    assert (device.name, device["mem.external_latency"]) == ("slow", 40)
    increase(files / "device.toml", b"format = ")
    done = run_here(["device", "device.toml"], files)
    assert "device.toml: format 9, this Macaw reads format 1; upgrade Macaw" in done.stderr


def test_a_point_of_a_newer_sweep_runs_again(files):
    paths = sorted((files / "sweep" / "points").glob("*.json"))
    assert len(paths) == 2
    for path in paths:
        assert json.loads(path.read_text("utf-8"))["format"] == point_files.FORMAT
        point = Point((), 0, 0)
        with pytest.MonkeyPatch.context() as patch:  # its files were at another place
            patch.setattr(point_files, "digests", lambda read: read)
            assert point_files.read_point(path, point) is not None
            increase(path, b'"format": ')
            assert point_files.read_point(path, point) is None
