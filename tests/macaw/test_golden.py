"""Golden folders: recording, comparing, texts of differences; also in pytest."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from macaw import array_comparison, golden_tests, processes
from macaw.errors import InputError
from tests.macaw.conftest import ROOT, Macaw

PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q"]


@pytest.fixture
def recorded(macaw: Macaw, layer: Path) -> Path:
    """A golden folder with a recording."""
    done = macaw("test", ".", "--update")
    assert done.returncode == 0, done.stderr
    return layer.parent


def change_record(folder: Path, **values: object) -> None:
    place = folder / "expected" / "run.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), **values}))


def test_a_folder_without_a_recording_differs(macaw: Macaw, layer: Path) -> None:
    done = macaw("test", ".")
    assert done.returncode == 1
    assert "DIFFERS  ." in done.stdout
    assert "nothing is recorded" in done.stdout
    assert done.stdout.endswith("0 passed, 1 failed\n")
    assert not (layer.parent / "expected").exists()


def test_recording_then_comparing(macaw: Macaw, layer: Path, expected_y: np.ndarray) -> None:
    done = macaw("test", ".", "--update")
    assert done.returncode == 0
    assert done.stdout == "recorded .\n  first recording\n1 recorded, 0 failed\n"
    np.testing.assert_array_equal(np.load(layer.parent / "expected" / "y.npy"), expected_y)
    record = json.loads((layer.parent / "expected" / "run.json").read_text())
    assert list(record) == ["stop", "exit_code", "cycles", "counters"]
    again = macaw("test", ".")
    assert (again.returncode, again.stdout) == (0, "ok       .\n1 passed, 0 failed\n")


@pytest.mark.once
def test_recording_twice_changes_nothing(macaw: Macaw, recorded: Path) -> None:
    before = {path: path.read_bytes() for path in (recorded / "expected").iterdir()}
    done = macaw("test", ".", "--update")
    assert done.stdout.startswith("same     .")
    assert before == {path: path.read_bytes() for path in (recorded / "expected").iterdir()}


@pytest.mark.once
def test_a_core_that_does_nothing_is_in_no_recording(macaw: Macaw, recorded: Path) -> None:
    """A core without work is in no recording, so a new kind of core does not change recordings.

    If the core works in a later run, the comparison reports a difference.
    """
    place = recorded / "expected" / "run.json"
    record = json.loads(place.read_text())
    counters = record["counters"]
    assert {"cp", "pe[0]"} <= set(counters)
    assert all(any(values.values()) for values in counters.values())
    idle = {"instructions": 0, "reads": 0}
    change_record(recorded, counters={**counters, "new": idle})
    assert macaw("test", ".").returncode == 0
    change_record(recorded, counters={**counters, "new": {**idle, "reads": 3}})
    assert "counters new reads: expected 3, got nothing" in macaw("test", ".").stdout
    change_record(recorded, counters={**counters, "pe[0]": idle})
    assert "counters pe[0] cycles: expected nothing, got" in macaw("test", ".").stdout


@pytest.mark.once
def test_a_differing_element_is_shown(macaw: Macaw, recorded: Path) -> None:
    y = np.load(recorded / "expected" / "y.npy")
    y[3] += 1
    np.save(recorded / "expected" / "y.npy", y)
    done = macaw("test", ".")
    assert done.returncode == 1
    assert "  output y: 1 of 8 elements differ\n" in done.stdout
    assert f"    y[3]: expected {y[3]}, got {y[3] - 1}\n" in done.stdout


@pytest.mark.once
def test_differing_numbers_are_shown(macaw: Macaw, recorded: Path) -> None:
    place = recorded / "expected" / "run.json"
    record = json.loads(place.read_text())
    record["counters"]["pe[0]"]["macs"] += 2
    place.write_text(json.dumps({**record, "cycles": record["cycles"] - 5}))
    done = macaw("test", ".")
    cycles = record["cycles"]
    assert f"  cycles: expected {cycles - 5:,}, got {cycles:,} (+5)\n" in done.stdout
    macs = record["counters"]["pe[0]"]["macs"]
    assert f"  counters pe[0] macs: expected {macs}, got {macs - 2} (-2)\n" in done.stdout


@pytest.mark.once
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda e: (e / "y.npy").unlink(), "output y: not recorded"),
        (lambda e: np.save(e / "z.npy", np.zeros(1)), "output z: recorded, but the program gave none"),
        (lambda e: np.save(e / "y.npy", np.zeros(8)), "output y: expected float64 8, got int32 8"),
        (lambda e: (e / "y.npy").write_bytes(b"no"), "is no .npy file"),
        (lambda e: (e / "run.json").write_text("[]"), "run.json cannot be read"),
        (lambda e: (e / "run.json").write_text("{"), "run.json cannot be read"),
        (lambda e: (e / "run.json").unlink(), "nothing is recorded"),
        (lambda e: change_record(e.parent, exit_code=1), "exit_code: expected 1, got 0 (-1)"),
        (lambda e: change_record(e.parent, stdout="x"), "stdout: expected 'x', got nothing"),
    ],
)  # fmt: skip
def test_a_spoilt_recording_never_passes(
    macaw: Macaw, recorded: Path, spoil: object, message: str
) -> None:
    spoil(recorded / "expected")  # type: ignore[operator]
    done = macaw("test", ".")
    assert done.returncode != 0
    assert message in done.stdout
    assert done.stdout.endswith("0 passed, 1 failed\n")


@pytest.mark.once
def test_recorded_outputs_that_are_no_longer_compared(macaw: Macaw, recorded: Path) -> None:
    text = 'source = "layer.s"\nrecord = ["cycles"]\n[inputs]\nx = "x.npy"\n'
    (recorded / "golden.toml").write_text(text)
    done = macaw("test", ".")
    assert done.returncode == 1
    assert "  output y: recorded, but record in golden.toml leaves outputs out\n" in done.stdout


def test_a_long_list_of_differences_is_cut() -> None:
    zeros, ones = np.zeros((4, 5), np.int8), np.ones((4, 5), np.int8)
    lines = array_comparison.array_differences("y", zeros, ones)
    assert lines[0] == "output y: 20 of 20 elements differ"
    assert lines[1] == "  y[0][0]: expected 0, got 1"
    assert lines[-1] == "  ... and 12 more"
    assert len(lines) == array_comparison.MOST_SHOWN + 2


def test_arrays_are_compared_bit_for_bit() -> None:
    nan, zero = np.float32("nan"), np.float32(0)
    assert not array_comparison.array_differences("y", np.array([nan]), np.array([nan]))
    assert array_comparison.array_differences("y", np.array([zero]), np.array([-zero]))
    assert array_comparison.array_differences("y", np.array(1), np.array(2)) == [
        "output y: 1 of 1 element differ",
        "  y: expected 1, got 2",
    ]


@pytest.mark.once
def test_a_faulting_program_is_a_golden_test(macaw: Macaw, tmp_path: Path) -> None:
    (tmp_path / "p.s").write_text("        .core cp\n        lw a0, 2(zero)\n")
    (tmp_path / "golden.toml").write_text('source = "p.s"\nrecord = ["cycles", "registers"]\n')
    assert macaw("test", ".", "--update").returncode == 0
    record = json.loads((tmp_path / "expected" / "run.json").read_text())
    assert record["stop"] == "fault"
    assert record["fault"]["kind"] == "misaligned access"
    assert record["fault"]["line"] == 2
    assert record["registers"]["cp"]["sp"] == 16 << 20
    assert str(tmp_path) not in json.dumps(record)
    assert macaw("test", ".").returncode == 0


@pytest.mark.once
def test_a_seed_of_jitter_is_part_of_the_description(macaw: Macaw, layer: Path) -> None:
    golden = layer.parent / "golden.toml"
    text = golden.read_text()
    assert macaw("test", ".", "--update").returncode == 0
    golden.write_text("jitter = 2\n" + text)  # tests/emu/test_jitter.py tests that cycles change
    done = macaw("test", ".")
    assert done.returncode == 1
    assert "cycles: expected" in done.stdout
    assert "output y" not in done.stdout
    assert macaw("test", ".", "--update").returncode == 0
    assert macaw("test", ".").returncode == 0


@pytest.mark.once
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "source must name the program's file"),
        ("source = 3", "source must name the program's file"),
        ("source = []", "source must name the program's file"),
        ('source = "layer.s"\nsorce = 1', "unknown field 'sorce'"),
        ('source = "layer.s"\ninputs = 1', "inputs must be a table of NAME = FILE"),
        ('source = "layer.s"\n[inputs]\nx = 1', "inputs must be a table of NAME = FILE"),
        ('source = "layer.s"\ndevice = 1', "device must be a name or a file"),
        ('source = "layer.s"\nmax_cycles = 0', "max_cycles must be a whole number from 1"),
        ('source = "layer.s"\nmost_cycles = 0', "most_cycles must be a whole number from 1"),
        ('source = "layer.s"\nmax_cycles = true', "max_cycles must be a whole number from 1"),
        ('source = "layer.s"\njitter = -1', "jitter must be a seed, a whole number from 0"),
        ('source = "layer.s"\njitter = true', "jitter must be a seed, a whole number from 0"),
        ('source = "layer.s"\nrecord = ["output"]', "record must be a list of outputs, registers"),
        ('source = "layer.s"\nrecord = []', "record must be a list of"),
        ('source = "layer.s', "golden.toml"),
        (f"jitter = {'9' * 5000}", "golden.toml: Exceeds the limit"),
        (f"jitter = {'[' * 20000}", "golden.toml: "),
        ('source = "none.s"', "none.s"),
        (
            'source = "layer.s"',
            "1 input not given: x (int8, 64)\n  hint: [inputs] of golden.toml names files\n",
        ),
        ('source = "layer.s"\ndevice = "tinny"', "no device is called 'tinny'"),
        ('source = "broken.s"', "broken.s:1:1: error:"),
    ],
)
def test_a_description_with_a_mistake(macaw: Macaw, layer: Path, text: str, message: str) -> None:
    (layer.parent / "broken.s").write_text("frobnicate\n")
    (layer.parent / "golden.toml").write_text(text)
    for options in ([], ["--update"]):
        done = macaw("test", ".", *options)
        assert done.returncode == 2
        assert done.stdout.startswith("WRONG    .\n")
        assert message in done.stdout
        assert not (layer.parent / "expected").exists()


@pytest.mark.once
@pytest.mark.parametrize("way", ["..", "absolute", "link"])
@pytest.mark.parametrize("what", ["source", "inputs", "device"])
def test_files_outside_of_the_folder_are_refused(
    macaw: Macaw, layer: Path, way: str, what: str
) -> None:
    """Files outside the golden folder are refused; no message quotes their contents."""
    folder = layer.parent
    secret = folder.parent / f"{folder.name}-secret.toml"
    secret.write_text("password 12345\n")
    (folder / "link.toml").symlink_to(secret)
    name = {"..": f"../{secret.name}", "absolute": str(secret), "link": "link.toml"}[way]
    place = folder / "golden.toml"
    lines = {"source": f'source = "{name}"', "inputs": "", "device": f'device = "{name}"'}
    text = f"{lines[what]}\n" + ('source = "layer.s"\n' if what != "source" else "")
    place.write_text(text + f'[inputs]\nx = "{name if what == "inputs" else "x.npy"}"\n')
    done = macaw("test", ".")
    assert done.returncode == 2
    assert f"'{name}' leads out of the folder of the golden test" in done.stdout + done.stderr
    assert "12345" not in done.stdout + done.stderr


@pytest.mark.once
def test_a_recording_outside_of_the_folder_is_refused(macaw: Macaw, recorded: Path) -> None:
    y = recorded / "expected" / "y.npy"
    moved = y.rename(recorded.parent / f"{recorded.name}-y.npy")
    y.symlink_to(moved)
    done = macaw("test", ".")
    assert done.returncode == 2
    assert "'expected/y.npy' leads out of the folder" in done.stdout + done.stderr


def test_folders_are_found_below(tmp_path: Path) -> None:
    for name in ("b", "a", "a/inner"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "golden.toml").touch()
    found = golden_tests.find_folders([tmp_path, tmp_path / "b", tmp_path / "a" / "golden.toml"])
    assert [path.relative_to(tmp_path).as_posix() for path in found] == ["a", "a/inner", "b"]


def test_a_tree_without_a_golden_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no golden test here or below"):
        list(golden_tests.find_folders([tmp_path]))


def test_sample_programs_do_what_is_recorded(macaw: Macaw) -> None:
    """Three sample programs pass their golden tests.

    pytest collects all samples (`testpaths`).
    """
    names = ("hello", "layer", "own_cp")
    done = macaw("test", *(ROOT / "programs" / name for name in names))
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("3 passed, 0 failed\n")


# In pytest -------------------------------------------------------------------------------------


def test_pytest_collects_the_folder_and_passes(recorded: Path) -> None:
    done = subprocess.run([*PYTEST, "-vv", recorded], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "golden.toml::golden PASSED" in done.stdout


@pytest.mark.once
def test_pytest_shows_the_difference(recorded: Path) -> None:
    """Differences, and what is wrong with a folder, are shown without the lines of Macaw."""
    change_record(recorded, cycles=1)
    wrong = recorded / "wrong"
    wrong.mkdir()
    (wrong / "golden.toml").write_text('source = "none.s"\n')
    done = subprocess.run([*PYTEST, recorded], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "2 failed" in done.stdout
    assert f"\n{recorded} differs:\ncycles: expected 1, got " in done.stdout
    assert "none.s" in done.stdout
    assert "Traceback" not in done.stdout
    assert "golden_tests.py" not in done.stdout


@pytest.mark.parametrize(("workers", "wanted"), [(1, []), (2, [2]), (9, [3])])
def test_several_workers_are_several_processes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, workers: int, wanted: list[int]
) -> None:
    """Several workers are several processes, at most one for each folder; one worker needs none."""
    numbers = []

    class Pool:
        def __init__(self, number, *_context, **_initializer):
            numbers.append(number)

        map = staticmethod(map)

        def shutdown(self, **_how):
            """There is no process to end."""

    monkeypatch.setattr(processes, "ProcessPoolExecutor", Pool)
    folders = [tmp_path / name for name in "abc"]
    outcomes = golden_tests.run_folders(folders, update=False, workers=workers, on_load=None)
    assert [item.folder for item in outcomes] == folders
    assert numbers == wanted
