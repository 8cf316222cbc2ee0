"""`macaw lower` and `macaw.lower`: their output, files and errors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import macaw as api
from macaw.lowering import reference
from tests.macaw.conftest import Macaw

RNG = np.random.default_rng(5)
WEIGHTS = (RNG.integers(-9, 10, (6, 10)) * (RNG.random((6, 10)) < 0.5)).astype(np.int8)
BIAS = RNG.integers(-99, 99, 6).astype(np.int32)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    np.save(tmp_path / "weights.npy", WEIGHTS)
    np.save(tmp_path / "bias.npy", BIAS)
    return tmp_path / "weights.npy"


def test_a_source_that_runs(macaw: Macaw, weights: Path, tmp_path: Path) -> None:
    done = macaw(
        *("lower", "spmm", "--weights", weights, "--rows", 3, "--bias", "bias.npy"),
        *("--activation", "relu", "--device", "tiny", "-o", "p.s", "--explain", "--measure"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    reasons = done.stdout.splitlines()
    assert "cycles and" in reasons[0]
    assert "iterations wait for" in reasons[0]
    assert sum(line.startswith(("input ", "weight ", "output ")) for line in reasons) >= 27
    assert reasons[-1] == "outputs equal NumPy's"
    text = (tmp_path / "p.s").read_text()
    assert reasons[0] in " ".join(text.replace("# ", "").split())
    assert macaw("fmt", "--check", "p.s").returncode == 0
    x = np.arange(30, dtype=np.int8).reshape(3, 10)
    np.save(tmp_path / "x.npy", x)
    ran = macaw("run", "p.s", "-i", "x=x.npy", "-o", "y=y.npy")
    assert (ran.returncode, ran.stderr) == (0, "")
    wanted = np.maximum(x.astype(int) @ WEIGHTS.T.astype(int) + BIAS, 0)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), wanted)


@pytest.mark.once
@pytest.mark.parametrize("operation", ["conv2d", "depthwise"])
def test_convolutions(macaw: Macaw, tmp_path: Path, operation: str) -> None:
    shape = (3, 3, 3, 2) if operation == "conv2d" else (2, 3, 3)
    kernels = RNG.integers(-9, 10, shape).astype(np.int8)
    np.save(tmp_path / "k.npy", kernels)
    done = macaw(
        *("lower", operation, "-w", "k.npy", "--image", "5x6", "--padding", "1x0", "--stride", 2),
        *("--device", "tiny", "--explain", "--measure"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("outputs equal NumPy's\n")
    x = RNG.integers(-9, 10, (5, 6, 2)).astype(np.int8)
    run = api.run(tmp_path / f"{operation}.s", x=x)
    window = np.pad(x.astype(int), ((1, 1), (0, 0), (0, 0)))[2:5, 2:5]  # of output (1, 1)
    if operation == "conv2d":
        wanted = (window * kernels).sum(axis=(1, 2, 3))
    else:
        wanted = (window * kernels.transpose(1, 2, 0)).sum(axis=(0, 1))
    assert run.outputs["y"].shape == (3, 2, len(wanted))
    np.testing.assert_array_equal(run.outputs["y"][1, 1], wanted)


def correlated(image: NDArray[Any], kernel: NDArray[Any]) -> NDArray[Any]:
    """The sums of products of the kernel and each window of the image."""
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(int), kernel.shape)
    sums: NDArray[Any] = np.einsum("ijkl,kl", windows, kernel)
    return sums


def test_layouts(macaw: Macaw, tmp_path: Path) -> None:
    """A convolution can store results in the layout that a depthwise sliding window reads."""
    kernels, depth = RNG.integers(-3, 4, (4, 2, 2, 2)), RNG.integers(-3, 4, (4, 3, 2))
    np.save(tmp_path / "k.npy", kernels.astype(np.int8))
    np.save(tmp_path / "d.npy", depth.astype(np.int8))
    for words in (
        ("conv2d", "-w", "k.npy", "--image", "6x7", "--out-layout", "cwh", "--shift", "0"),
        ("depthwise", "-w", "d.npy", "--image", "5x6", "--layout", "cwh"),
    ):
        assert macaw("lower", *words, "--device", "tiny").returncode == 0
    assert "state=sw" in (tmp_path / "depthwise.s").read_text()
    x = RNG.integers(-3, 4, (6, 7, 2)).astype(np.int8)
    between = api.run(tmp_path / "conv2d.s", x=x).outputs["y"]
    assert between.shape == (4, 6, 5)
    found = api.run(tmp_path / "depthwise.s", x=between).outputs["y"]
    assert found.shape == (3, 5, 4)
    for n in range(4):
        plane = np.sum([correlated(x[..., c], kernels[n, ..., c]) for c in range(2)], axis=0)
        np.testing.assert_array_equal(found[..., n], correlated(plane, depth[n]))


def test_measured_is_what_a_run_says(weights: Path, tmp_path: Path) -> None:
    found = api.lower("spmv", WEIGHTS, device="tiny", mapping="output", split="e")
    assert repr(found) == f"<lowering of spmv for tiny: {found.cost.cycles:,} cycles predicted>"
    measured = found.measure()
    assert measured.equal
    assert measured.external_bytes == found.cost.traffic.external
    found.write(tmp_path / "spmv.s")
    x = np.arange(10, dtype=np.int8)
    run = api.run(tmp_path / "spmv.s", x=x)
    np.testing.assert_array_equal(run.outputs["y"], WEIGHTS.astype(int) @ x)
    assert found.choice.selection.plan.mapping.name == "output"
    assert found.choice.selection.plan.partition.split == "e"


def test_a_device_of_ones_own_goes_beside_the_source(weights: Path, tmp_path: Path) -> None:
    (tmp_path / "wide.toml").write_text("[pe]\nrows = 1\nclusters = 3\npes = 2\n")
    (tmp_path / "out").mkdir()
    found = api.lower("spmv", WEIGHTS, device=tmp_path / "wide.toml", name="p")
    found.write(tmp_path / "out" / "p.s")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "p.device.toml",
        "p.s",
        "p.w.npy",
    ]
    run = api.run(tmp_path / "out" / "p.s", x=np.ones(10, np.int8))
    np.testing.assert_array_equal(run.outputs["y"], WEIGHTS.sum(axis=1))
    assert run.device.config["pe.clusters"] == 3


def test_a_source_that_would_be_a_folder(macaw: Macaw, tmp_path: Path, weights: Path) -> None:
    before = sorted(tmp_path.iterdir())
    done = macaw("lower", "spmv", "-w", weights, "-o", "new/")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "macaw: error: cannot write new/: Is a directory\n"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ['a"b', "a\\n", "a\nb", "a b#"])
def test_any_name_of_a_source(macaw: Macaw, tmp_path: Path, weights: Path, name: str) -> None:
    """A source may be called anything: it names its files in strings with escapes."""
    (tmp_path / "own.toml").write_text("[pe]\nrows = 1\nclusters = 3\npes = 2\n")
    options = ("--bias", "bias.npy", "--device", "own.toml", "-o", f"{name}.s")
    done = macaw("lower", "spmv", "-w", weights, *options, "--measure")
    assert (done.returncode, done.stderr) == (0, "")
    assert "clusters = 3" in api.assemble(tmp_path / f"{name}.s").config_toml


def test_a_name_that_is_no_text() -> None:
    lowering = api.lower("spmv", WEIGHTS, name="a\udcff")
    with pytest.raises(api.InputError, match=r"needs a name in UTF-8$"):
        lowering.assemble()


@pytest.mark.once
@pytest.mark.parametrize("element", ["int16", "fp16", "fp32"])
def test_other_types(element: str, tmp_path: Path) -> None:
    """Programs for other element types give exact results; inputs of floating types are whole."""
    (tmp_path / "d.toml").write_text(
        f'[pe]\nrows = 2\nclusters = 2\npes = 4\nelement = "{element}"\n'
    )
    found = api.lower("spmm", WEIGHTS, rows=5, bias=BIAS, shift=2, device=tmp_path / "d.toml")
    assert found.measure().equal


def test_a_fault_of_the_measured_run_is_in_the_source(macaw: Macaw, tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.full((4, 8), 100))
    np.save(tmp_path / "b.npy", np.full(4, 2**31 - 1))
    words = ("spmv", "-w", "w.npy", "--bias", "b.npy", "--device", "tiny", "-o", "p.s")
    done = macaw("lower", *words, "--measure")
    assert done.returncode == 1
    assert done.stderr.startswith("macaw: error: p.s:")
    assert "accumulator overflow" in done.stderr


@pytest.mark.parametrize("overflow", ["wrap", "saturate"])
@pytest.mark.parametrize("options", [{}, {"activation": "relu"}, {"shift": 4}])
@pytest.mark.parametrize(("element", "greatest"), [("int8", 2**31 - 5), ("fp32", 3.4028234e38)])
def test_measured_outputs_may_leave_the_range_of_sums(
    overflow: str, options: dict[str, Any], element: str, greatest: float, tmp_path: Path
) -> None:
    """The results wrap or saturate in NumPy, too; here no sum returns into the range."""
    text = f'[pe]\noverflow = "{overflow}"\nelement = "{element}"\n'
    (tmp_path / "d.toml").write_text(text)
    bias = np.array([greatest, -greatest])
    weights = np.repeat([[7], [-7]], 10, axis=1)
    if element == "fp32":
        weights = weights * 2e37
    found = api.lower("spmv", weights, bias=bias, device=tmp_path / "d.toml", **options)
    assert found.measure().equal


def test_measured_64_bit_sums_saturate(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text('[pe]\noverflow = "saturate"\nelement = "int16"\n')
    bias = np.array([2**63 - 5, -(2**63) + 5])
    weights = np.repeat([[7], [-7]], 10, axis=1)
    assert api.lower("spmv", weights, bias=bias, device=tmp_path / "d.toml").measure().equal


@pytest.mark.parametrize("element", ["fp16", "fp32"])
@pytest.mark.parametrize("options", [{}, {"shift": 3}, {"activation": "tanh"}])
def test_measured_real_numbers_may_differ_by_roundings(
    element: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """Sums of the array are rounded to fp32; a wrong output is found nevertheless."""
    (tmp_path / "d.toml").write_text(f'[pe]\nelement = "{element}"\n')
    random = np.random.default_rng(0)
    weights, bias = random.normal(size=(24, 100)), random.normal(size=24)
    words = {"rows": 9, "device": tmp_path / "d.toml", **options}
    found = api.lower("spmm", weights, bias=bias, **words)
    x = random.normal(size=(9, 100)).astype({"fp16": np.float16, "fp32": np.float32}[element])
    assert found.measure(x).equal
    outputs = api.run(found.assemble(), x=x).outputs["y"]
    assert reference.agrees(found.product, found.config, x, outputs)
    outputs[3, 4] *= 1.01
    assert not reference.agrees(found.product, found.config, x, outputs)


def test_measured_outputs_may_be_no_numbers(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text('[pe]\nelement = "fp32"\n')
    found = api.lower("spmv", np.where(WEIGHTS == 0, np.nan, 1), device=tmp_path / "d.toml")
    assert found.measure().equal


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["spmm"], "spmm needs the number of rows of activations"),
        (["spmx"], "no operation 'spmx'"),
        (["spmv", "--rows", 2], "spmv takes one vector"),
        (["spmv", "--activation", "rely"], "no activation 'rely'"),
        (["spmv", "--shift", 64], "a shift of 64 is out of range, 0 to 63"),
        (["spmv", "--density", 0], "the density 0.0 is out of range, above 0 to 1"),
        (["spmv", "--bias", "weights.npy"], "the bias has the shape (6, 10), there are 6 outputs"),
        (["spmv", "-w", "bias.npy"], "the weights have the shape (6,)"),
        (["spmv", "-w", "wide.npy"], "the weights: -900 is out of range of int8, -128 to 127"),
        (["spmv", "-w", "half.npy"], "the weights: numbers of float64, not of int8"),
        (["spmv", "--bias", "much.npy"], "is out of range of int32"),
        (["spmv", "--bias", "float.npy"], "the bias: numbers of float64, not of int32"),
        (["spmv", "-w", "half.npy", "--device", "fp16.toml"], "the weights: 6e+06 is too large"),
        (["spmv", "-w", "none.npy"], "cannot read none.npy: No such file or directory"),
        (
            ["spmv", "--image", "9x9"],
            "spmv has no image, stride, padding, dilation, groups, batch or layout",
        ),
        (
            ["spmv", "--layout", "cwh"],
            "spmv has no image, stride, padding, dilation, groups, batch or layout",
        ),
        (["conv2d", "--pads", "1,2,3"], "'1,2,3' is not four numbers TOP,LEFT,BOTTOM,RIGHT"),
        (["conv2d", "--pads", "1,2,3," + 20 * "9"], "numbers have"),
        (["spmv", "--groups", 2], "spmv has no image, stride, padding, dilation, groups, batch"),
        (["conv2d", "--image", "9by9"], "'9by9' is no number N, and no VERTICALxHORIZONTAL"),
        (["conv2d", "--image", "9"], "the weights have the shape (6, 10)"),
        (["spmv", "-w", "spmv.w.npy"], "spmv.w.npy is an input: it is not overwritten"),
    ],
)
def test_errors(
    macaw: Macaw, weights: Path, tmp_path: Path, words: list[object], message: str
) -> None:
    np.save(tmp_path / "wide.npy", WEIGHTS.astype(np.int16) * 100)
    np.save(tmp_path / "half.npy", WEIGHTS * 1e6)
    np.save(tmp_path / "much.npy", BIAS.astype(np.int64) + 3_000_000_000)
    np.save(tmp_path / "float.npy", BIAS * 0.5)
    (tmp_path / "fp16.toml").write_text('[pe]\nelement = "fp16"\n')
    np.save(tmp_path / "spmv.w.npy", WEIGHTS)
    before = (tmp_path / "spmv.w.npy").read_bytes()
    done = macaw("lower", "-w", weights, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "spmv.s").exists()
    assert (tmp_path / "spmv.w.npy").read_bytes() == before


@pytest.mark.once
def test_options_of_convolutions_reach_the_program(macaw: Macaw, tmp_path: Path) -> None:
    """Options of convolutions (padding, dilation, groups, batch) reach the program's shapes."""
    np.save(tmp_path / "w.npy", np.ones((4, 3, 3, 2), np.int8))
    done = macaw("lower", "conv2d", "-w", tmp_path / "w.npy", "--image", "6x7", "--pads", "1,2,0,3",
                 "--dilation", "2x1", "--groups", 2, "--batch", 3, "--device", "tiny", "--measure",
                 "-o", tmp_path / "c.s")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "outputs equal NumPy's" in done.stdout
    program = api.assemble(tmp_path / "c.s")
    assert program.inputs[0].shape == (3, 6, 7, 4)
    assert program.outputs[0].shape == (3, 3, 10, 4)
