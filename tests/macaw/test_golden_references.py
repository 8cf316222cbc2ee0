"""References of golden tests: `[expected]` with tolerances, and the messages of wrong elements."""

import math
import random
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from macaw import array_comparison, golden_tests
from macaw.emu import bfloat16
from macaw.emu.nnp.quantisers import Quantiser, quantise
from macaw.golden_description import Tolerance, read_description
from tests.macaw.conftest import Macaw


@pytest.fixture
def referenced(layer: Path, expected_y: np.ndarray) -> Path:
    """A golden folder of the layer with NumPy's result, in binary64, as the reference of y."""
    folder = layer.parent
    np.save(folder / "numpy.npy", expected_y.astype(np.float64))
    (folder / "golden.toml").write_text(
        'source = "layer.s"\nrecord = []\n[inputs]\nx = "x.npy"\n[expected]\ny = "numpy.npy"\n'
    )
    return folder


def describe(folder: Path, entry: str, record: str = "[]") -> None:
    (folder / "golden.toml").write_text(
        f'source = "layer.s"\nrecord = {record}\n[inputs]\nx = "x.npy"\n[expected]\n{entry}\n'
    )


def change(folder: Path, index: int, by: float) -> float:
    reference = np.load(folder / "numpy.npy")
    reference[index] += by
    np.save(folder / "numpy.npy", reference)
    return float(reference[index])


def test_a_reference_needs_no_recording(macaw: Macaw, referenced: Path) -> None:
    done = macaw("test", ".")
    assert (done.returncode, done.stdout) == (0, "ok       .\n1 passed, 0 failed\n")
    done = macaw("test", "--update", ".")
    assert (done.returncode, done.stdout) == (0, "same     .\n1 recorded, 0 failed\n")
    assert not (referenced / "expected").exists()


def test_a_wrong_element_is_named(macaw: Macaw, referenced: Path) -> None:
    third, fifth = change(referenced, 3, 2), change(referenced, 5, -40)
    done = macaw("test", ".")
    assert (done.returncode, done.stdout) == (
        1,
        "DIFFERS  .\n"
        "  output y: 2 of 8 elements differ from numpy.npy\n"
        f"    first: y[3]: expected {third}, got {int(third) - 2}, error 2\n"
        f"    largest: y[5]: expected {fifth}, got {int(fifth) + 40}, error 40\n"
        "0 passed, 1 failed\n",
    )
    describe(referenced, 'y = { file = "numpy.npy", absolute = 1, units = 2.5 }')
    done = macaw("test", ".")
    assert (
        "  output y: 1 of 8 elements are further from numpy.npy than 1 + 2.5 units\n"
        f"    first: y[5]: expected {fifth}, got {int(fifth) + 40}, error 40 (40 units), allowed 3.5\n"
    ) in done.stdout


def test_an_update_records_the_rest(macaw: Macaw, referenced: Path) -> None:
    describe(referenced, 'y = "numpy.npy"', '["outputs", "cycles"]')
    assert macaw("test", ".").stdout.startswith("DIFFERS  .\n  nothing is recorded")
    assert macaw("test", "--update", ".").returncode == 0
    assert [path.name for path in (referenced / "expected").iterdir()] == ["run.json"]
    assert macaw("test", ".").returncode == 0
    change(referenced, 0, 1)
    (referenced / "expected" / "run.json").unlink()
    done = macaw("test", "--update", ".")  # what differs from a reference cannot be recorded
    assert (done.returncode, done.stdout.splitlines()[:3]) == (
        1,
        [
            "DIFFERS  .",
            "  recorded: first recording",
            "  output y: 1 of 8 elements differ from numpy.npy",
        ],
    )
    change(referenced, 0, -1)
    assert macaw("test", ".").returncode == 0


def test_an_old_recording_of_an_output_with_a_reference(macaw: Macaw, referenced: Path) -> None:
    describe(referenced, 'y = "numpy.npy"', '["outputs"]')
    (referenced / "expected").mkdir()
    np.save(referenced / "expected" / "y.npy", np.zeros(8))
    assert macaw("test", "--update", ".").returncode == 0
    np.save(referenced / "expected" / "y.npy", np.zeros(8))
    assert "output y: recorded, but it has a reference" in macaw("test", ".").stdout
    assert macaw("test", "--update", ".").returncode == 0
    assert not (referenced / "expected" / "y.npy").exists()
    assert (referenced / "numpy.npy").exists()


def test_a_program_that_fails_never_passes(macaw: Macaw, referenced: Path) -> None:
    tensors = ".input x, int8, 64\n.output y, int32, 8\n.core cp\n"
    (referenced / "layer.s").write_text(f"{tensors}li a7, 93\nli a0, 3\necall\n")
    assert "  exit_code: expected 0, got 3 (+3)\n" in macaw("test", ".").stdout
    (referenced / "layer.s").write_text(f"{tensors}lw a0, 2(zero)\n")
    done = macaw("test", ".")
    assert done.returncode == 1
    assert "  stop: expected 'exit', got 'fault'\n" in done.stdout
    assert "  output y: has a reference, but the program gave none\n" in done.stdout


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("y = 3", "expected.y must be a .npy file, or a table with a file"),
        ("y = { units = 1 }", "expected.y must be a .npy file, or a table with a file"),
        ('y = { file = "numpy.npy", unit = 1 }', "unknown field 'unit'\n  hint: did you mean 'units'?"),
        ('y = { file = "numpy.npy", absolute = -1 }', "expected.y: absolute must be a number from 0"),
        ('y = { file = "numpy.npy", relative = "1%" }', "expected.y: relative must be a number from 0"),
        ('y = { file = "numpy.npy", units = true }', "expected.y: units must be a number from 0"),
        ('y = { file = "numpy.npy", units = inf }', "expected.y: units must be a number from 0"),
        ('y = { file = "numpy.npy", units = nan }', "expected.y: units must be a number from 0"),
        ('y = { file = "numpy.npy", units = 1, block = 0, bits = 5 }', "block must be a whole number from 1"),
        ('y = { file = "numpy.npy", units = 1, block = 4, bits = 1 }', "bits must be a whole number from 2 to 53"),
        ('y = { file = "numpy.npy", units = 1, block = 4 }', "block and bits describe a block format together"),
        ('y = { file = "numpy.npy", units = 1, bits = 4 }', "block and bits describe a block format together"),
        ('y = { file = "numpy.npy", block = 4, bits = 4 }', "block and bits define the unit, and units are not given"),
        ('y = "none.npy"', "none.npy"),
        ('y = "layer.s"', "layer.s is no .npy file"),
        ('y = "../numpy.npy"', "'../numpy.npy' leads out of the folder of the golden test"),
        ('y = "expected/y.npy"', "expected.y: expected/ has the recordings, which `--update` replaces"),
        ('z = "numpy.npy"', "expected.z: no output is called 'z'\n  hint: there are y"),
    ],
)  # fmt: skip
def test_a_reference_with_a_mistake(
    macaw: Macaw, referenced: Path, entry: str, message: str
) -> None:
    describe(referenced, entry)
    done = macaw("test", ".")
    assert done.returncode == 2
    assert message in done.stdout


def test_expected_must_be_a_table(macaw: Macaw, referenced: Path) -> None:
    (referenced / "golden.toml").write_text('source = "layer.s"\nexpected = "numpy.npy"\n')
    assert "expected must be a table of OUTPUT = FILE" in macaw("test", ".").stdout
    (referenced / "golden.toml").write_text('source = "layer.s"\nrecord = []\n')
    done = macaw("test", ".")
    assert "hint: it may be empty if [expected] has references" in done.stdout


def test_a_program_without_outputs(macaw: Macaw, tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", np.zeros(1))
    (tmp_path / "p.s").write_text(".core cp\nli a7, 93\nli a0, 0\necall\n")
    (tmp_path / "golden.toml").write_text('source = "p.s"\n[expected]\ny = "y.npy"\n')
    assert "hint: the program has no output" in macaw("test", ".").stdout


@pytest.mark.parametrize("option", [[], ["--update"]])
def test_an_exit_code_cannot_be_recorded_if_nothing_is(
    macaw: Macaw, tmp_path: Path, option: list[str]
) -> None:
    np.save(tmp_path / "y.npy", np.array([5], np.int32))
    (tmp_path / "p.s").write_text(
        ".output y, int32, 1\n.core cp\nla a1, y\nli a0, 5\nsw a0, 0(a1)\nli a7, 93\nli a0, 1\necall\n"
    )
    (tmp_path / "golden.toml").write_text('source = "p.s"\nrecord = []\n[expected]\ny = "y.npy"\n')
    done = macaw("test", *option, ".")
    assert done.returncode == 1
    assert done.stdout.startswith("DIFFERS  .\n  exit_code: expected 0, got 1 (+1)\n")
    assert not (tmp_path / "expected").exists()


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (np.zeros(9), "output y: numpy.npy is 9, the output is 8"),
        (np.zeros(8, np.complex64), "output y: numpy.npy has elements of type complex64, not numbers"),
        (np.full(8, 1 << 63, np.uint64), "output y: numpy.npy has numbers beyond int64"),
    ],
)  # fmt: skip
def test_a_reference_that_cannot_be_compared(
    macaw: Macaw, referenced: Path, reference: np.ndarray, message: str
) -> None:
    np.save(referenced / "numpy.npy", reference)
    done = macaw("test", ".")
    assert (done.returncode, done.stdout) == (
        1,
        f"DIFFERS  .\n  {message}\n0 passed, 1 failed\n",
    )


def test_the_description_has_the_tolerance(referenced: Path) -> None:
    describe(
        referenced, 'y = { file = "numpy.npy", relative = 0.5, units = 2, block = 4, bits = 5 }'
    )
    found = read_description(referenced).references["y"]
    assert found.file == referenced / "numpy.npy"
    assert found.tolerance == Tolerance(0.0, 0.5, 2.0, 4, 5)
    assert referenced / "numpy.npy" in golden_tests.files_of(referenced)


# The comparison ----------------------------------------------------------------------------------


def differences(reference: object, got: object, tolerance: Tolerance) -> list[str]:
    return array_comparison.reference_differences(
        "y", "r.npy", np.asarray(reference), np.asarray(got), tolerance
    )


SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0]


@pytest.mark.parametrize("expected", SPECIAL)
@pytest.mark.parametrize("got", SPECIAL)
def test_numbers_that_are_not_finite(expected: float, got: float) -> None:
    """No tolerance allows an infinity or a NaN in place of a number, or the reverse."""
    same = expected == got or (math.isnan(expected) and math.isnan(got))
    finite = math.isfinite(expected) and math.isfinite(got)
    huge = Tolerance(absolute=1e300, relative=1e300, units=1e300)
    for dtype in (np.float16, np.float32, np.float64):
        assert bool(differences(expected, dtype(got), Tolerance())) is not same
        assert bool(differences(expected, dtype(got), huge)) is not (same or finite)


def test_an_infinite_error_is_the_largest() -> None:
    lines = differences([1.0, 2.0, 3.0], np.array([1.5, np.nan, 9.0]), Tolerance(absolute=0.25))
    assert lines == [
        "output y: 3 of 3 elements are further from r.npy than 0.25",
        "  first: y[0]: expected 1.0, got 1.5, error 0.5, allowed 0.25",
        "  largest: y[1]: expected 2.0, got nan, error inf, allowed 0",
    ]


def test_integers_are_compared_exactly() -> None:
    """Integers are compared exactly, also if binary64 cannot tell them apart."""
    least, greatest = -(1 << 63), (1 << 63) - 1
    near = np.array([greatest, least], np.int64)
    assert not differences(near, near.copy(), Tolerance())
    assert differences(near, near + np.array([-1, 1]), Tolerance())[0].startswith(
        "output y: 2 of 2"
    )
    lines = differences(np.array([least]), np.array([greatest]), Tolerance(units=1))
    assert f"error {(1 << 64) - 1:,}" in lines[1]
    assert not differences(np.array([True]), np.array([1], np.int8), Tolerance())


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@np.errstate(over="ignore")  # beyond the greatest number is infinity
def test_a_unit_is_the_distance_to_the_next_number(dtype: type) -> None:
    """A tolerance of one unit allows the neighbours of a number and no others.

    The test uses fractions instead of the tool's formula.
    """
    info = np.finfo(dtype)
    values = [
        0.0,
        1.0,
        1.5,
        float(info.tiny),
        float(info.smallest_subnormal),
        float(info.max),
        3e-5,
    ]
    for value in map(dtype, values):
        for away, steps in ((np.inf, 1), (np.inf, 2), (-np.inf, 1), (-np.inf, 2)):
            got = value
            for _ in range(steps):
                got = np.nextafter(got, dtype(away))
            if not np.isfinite(got):
                continue
            up = np.nextafter(value, dtype(np.inf))
            step = up if np.isfinite(up) else value
            below = value if np.isfinite(up) else np.nextafter(value, dtype(0))
            unit = Fraction(float(step)) - Fraction(float(below))
            error = abs(Fraction(float(got)) - Fraction(float(value)))
            found = differences(value, got, Tolerance(units=1.0))
            assert bool(found) is (error > unit), (value, got)


@pytest.mark.parametrize("got", [0x3F7F, 0x3F80, 0x3F81, 0x3F82, 0xC2F7])
def test_a_unit_of_bfloat16_is_that_of_the_declared_type(
    macaw: Macaw, tmp_path: Path, got: int
) -> None:
    """The output is an array of float32, but has the units of its declared type."""
    (tmp_path / "a.s").write_text(
        f"        .output y, bfloat16, 1\n        .core cp\n        li t0, {got:#x}\n"
        "        la t1, y\n        sh t0, 0(t1)\n        li a7, 93\n        li a0, 0\n"
        "        ecall\n"
    )
    near = 1.0 if got < 0x8000 else -123.25
    np.save(tmp_path / "r.npy", np.array([near]))
    (tmp_path / "golden.toml").write_text(
        'source = "a.s"\nrecord = []\n[expected]\ny = { file = "r.npy", units = 1 }\n'
    )
    done = macaw("test", ".")
    if got == 0x3F82:
        error = "error 0.015625 (2 units), allowed 0.0078125"
        assert done.returncode == 1
        assert f"y[0]: expected 1.0, got 1.015625, {error}" in done.stdout
    else:
        assert (done.returncode, done.stdout) == (0, "ok       .\n1 passed, 0 failed\n")


def test_distances_of_bfloat16_are_those_of_ml_dtypes() -> None:
    bits = np.arange(0x7F80, dtype=np.uint16)
    values = bits.view(ml_dtypes.bfloat16).astype(np.float64)
    wanted = np.append(np.diff(values), values[-1] - values[-2])
    np.testing.assert_array_equal(bfloat16.distances(values), wanted)
    np.testing.assert_array_equal(bfloat16.distances(np.array(3e39)), wanted[-1])


def test_tolerances_are_added_as_numpy_adds_them() -> None:
    rng = np.random.default_rng(5)
    reference = rng.normal(size=(40, 5)).astype(np.float32)
    got = reference + rng.normal(scale=0.02, size=reference.shape).astype(np.float32)
    close = np.isclose(got.astype(float), reference.astype(float), rtol=0.01, atol=0.005)
    lines = differences(reference, got, Tolerance(absolute=0.005, relative=0.01))
    assert 0 < (~close).sum() < close.size
    assert lines[0].startswith(f"output y: {(~close).sum()} of 200 elements are further from r.npy")
    first = tuple(int(i) for i in np.argwhere(~close)[0])
    assert f"first: y[{first[0]}][{first[1]}]: " in lines[1]
    errors = np.where(close, 0, np.abs(got.astype(float) - reference.astype(float)))
    worst = np.unravel_index(errors.argmax(), errors.shape)
    assert f"largest: y[{worst[0]}][{worst[1]}]: " in lines[2]


@pytest.mark.parametrize("bits", [3, 5, 8])
def test_a_unit_of_a_block_is_the_quantiser_s_step(bits: int) -> None:
    """A tolerance's unit for a block is the step of nnp's quantiser.

    Quantised numbers are within one unit; a tolerance of 2 units allows 2.0 steps, but not 2.01.
    """
    rng = np.random.default_rng(bits)
    reference = (rng.normal(size=(3, 12)) * 2.0 ** rng.integers(-6, 7, (3, 1))).astype(np.float32)
    blocks = reference.reshape(3, 3, 4)
    quantised = quantise(blocks, Quantiser("bfp", bits=bits))
    units = np.ldexp(1.0, quantised.exponents.astype(int) - (bits - 1))[..., None]
    got = (quantised.codes * units).reshape(3, 12)
    step = np.broadcast_to(units, blocks.shape).reshape(3, 12)
    # The greatest code is one step below 2^e.
    largest = np.abs(got - reference) / step
    assert largest.max() <= 1
    assert not differences(reference, got, Tolerance(units=1, block=4, bits=bits))
    place = random.Random(bits).randrange(36)
    for factor, wrong in ((2.0, False), (2.01, True)):
        moved = reference.astype(np.float64)
        moved.flat[place] += factor * step.flat[place]
        tolerance = Tolerance(units=2, block=4, bits=bits)
        assert bool(differences(reference, moved, tolerance)) is wrong


def test_a_last_block_may_be_shorter_and_zeros_have_no_unit() -> None:
    reference = np.array([4.0, 0.0, 0.0, 0.0, 0.25])
    tolerance = Tolerance(units=1, block=2, bits=3)
    # 4 < 2^3, so a unit is 2; 0.25 < 2^-1, so it is 1/8.
    assert not differences(reference, reference + [2, -2, 0, 0, 0.125], tolerance)
    lines = differences(reference, reference + [2, -2, 1e-9, 0, 0.126], tolerance)
    assert lines[0] == "output y: 2 of 5 elements are further from r.npy than 1 unit"
    assert lines[1].startswith("  first: y[2]: expected 0.0, got 1e-09, error 1e-09, allowed 0")
    assert lines[2].endswith("error 0.126 (1.008 units), allowed 0.125")
    assert not differences(np.array(4.0), np.array(6.0), tolerance)
