"""`macaw protect` and `macaw.protect`: their files, output and errors."""

import os
import re
import tomllib
from collections.abc import Callable
from math import factorial, log2
from pathlib import Path

import numpy as np
import pytest

import macaw as api
from macaw import protection
from macaw.cli import run_command
from tests.macaw.conftest import ROOT, Macaw

RNG = np.random.default_rng(8)
ONE = RNG.integers(-99, 100, (6, 21)).astype(np.int8)
TWO = RNG.integers(-99, 100, (3, 6)).astype(np.int8)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's folder with the weights of two layers."""
    monkeypatch.chdir(tmp_path)
    np.save("one.npy", ONE)
    np.save("two.npy", TWO)
    return tmp_path


@pytest.fixture
def refused(capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """A function that runs `macaw protect`, which must fail; returns the message."""

    def run(*words: str) -> str:
        assert run_command(["protect", *words]) == 2
        shown = capfd.readouterr()
        assert not shown.out
        assert "Traceback" not in shown.err
        return shown.err

    return run


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("scope", ["net", "layer", "group:4", "node"])
def test_there_and_back(macaw: Macaw, files: Path, scope: str) -> None:
    done = macaw(
        *("protect", "one.npy", "two.npy", "--scope", scope, "--lanes", 16),
        *("-o", "s1.npy", "-o", "s2.npy", "--order", "order.npy"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    orders = np.load("order.npy")
    numbers = {"net": 1, "layer": 2, "group:4": 3, "node": 9}
    assert (orders.dtype, orders.shape) == (np.uint8, (numbers[scope], 2, 16))
    assert [np.load(name).shape for name in ("s1.npy", "s2.npy")] == [(6, 32), (3, 16)]
    assert f"scope {scope}: 9 nodes" in done.stdout
    done = macaw(
        *("protect", "--undo", "s1.npy", "s2.npy", "-o", "o.npy", "-o", "t.npy"),
        *("--order", "order.npy"),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert Path("o.npy").read_bytes() == Path("one.npy").read_bytes()
    assert Path("t.npy").read_bytes() == Path("two.npy").read_bytes()


def test_it_says_how_many_orders_an_attacker_faces(macaw: Macaw, files: Path) -> None:
    np.save("rows.npy", np.arange(126, dtype=np.int8).reshape(6, 21))
    done = macaw("protect", "rows.npy", "-o", "s.npy", "--order", "order.npy", "--scope", "node")
    bits = 6 * (log2(factorial(16) - 1) + log2(factorial(5) - 1))
    assert done.stdout.splitlines() == [
        "scope node: 6 nodes, 6 orders of 2 blocks of 16 lanes",
        f"an attacker faces 2^{bits:.1f} orders",
    ]
    np.save("same.npy", np.zeros((2, 16), np.int8))
    done = macaw("protect", "same.npy", "-o", "s.npy", "--order", "order.npy")
    assert done.stdout.splitlines() == [
        "scope net: 2 nodes, 1 order of 1 block of 16 lanes",
        f"an attacker faces 2^{log2(factorial(16) - 1):.1f} orders",
        "of them 2^0.0 differ: equal weights are interchangeable",
    ]


def test_files_hold_nothing_of_each_other(macaw: Macaw, files: Path) -> None:
    """The file of weights holds no orders, and the file of orders no weights (seed 002 ¶105).

    The orders depend on the seed, not on the weights. The note has only digests of the weights.
    """
    np.save("other.npy", RNG.integers(-99, 100, ONE.shape).astype(np.int8))
    for name in ("one", "other"):
        words = ("-o", f"{name}.s.npy", "--order", f"{name}.order.npy", "--seed", 4)
        done = macaw("protect", f"{name}.npy", *words)
        assert "drawn from a seed" in done.stderr
    assert Path("one.order.npy").read_bytes() == Path("other.order.npy").read_bytes()
    notes = [tomllib.loads(Path(f"{name}.order.toml").read_text()) for name in ("one", "other")]
    for note in notes:
        (weights,) = note.pop("weights")
        assert re.fullmatch("[0-9a-f]{64}", weights.pop("sha256"))
        assert weights.pop("file").endswith(".s.npy")
        assert weights == {"shape": [6, 21]}
    assert notes[0] == notes[1]
    # What is stored is the weights and zeros, so no order; its header is NumPy's.
    stored = np.load("one.s.npy")
    assert np.sort(stored).tolist() == np.sort(np.pad(ONE, ((0, 0), (0, 11)))).tolist()
    assert len(Path("one.s.npy").read_bytes()) == 128 + stored.size


def test_without_a_seed_every_file_differs(macaw: Macaw, files: Path) -> None:
    for name in "ab":
        assert macaw("protect", "one.npy", "-o", f"{name}.npy", "--order", f"o{name}").stderr == ""
    assert Path("oa").read_bytes() != Path("ob").read_bytes()


def test_from_python(files: Path) -> None:
    found = api.protect(ONE, TWO, scope="layer", seed=3)
    assert [array.shape for array in found.orders] == [(6, 2, 16), (3, 1, 16)]
    assert found.order.shape == (2, 2, 16)
    assert repr(found) == "<protection of 2 layers, scope layer: orders of the shape (2, 2, 16)>"
    assert [array.tolist() for array in found.plain()] == [ONE.tolist(), TWO.tolist()]
    x = RNG.integers(-99, 100, 32)
    picked = np.take_along_axis(found.weights[0].reshape(6, 2, 16), found.orders[0].astype(int), -1)
    np.testing.assert_array_equal(picked.reshape(6, 32) @ x, ONE.astype(int) @ x[:21])
    back = api.unprotect(*found.weights, order=found.order, scope="layer", shapes=[(6, 21), (3, 6)])
    assert [array.tolist() for array in back] == [ONE.tolist(), TWO.tolist()]
    alone = api.protect(ONE, seed=1)
    (padded,) = api.unprotect(*alone.weights, order=alone.order)
    assert padded.tolist() == np.pad(ONE, ((0, 0), (0, 11))).tolist()
    found.write(["a.npy", "b.npy"], "o.npy")
    assert [
        array.tolist()
        for array in protection.restore_files(["a.npy", "b.npy"], "o.npy", scope=None, lanes=None)
    ] == [
        ONE.tolist(),
        TWO.tolist(),
    ]
    for bad in (
        lambda: api.protect(ONE, scope="nodes"),
        lambda: api.protect(),
        lambda: api.protect("text"),
        lambda: api.unprotect(ONE, order=found.order),
        lambda: api.unprotect(*found.weights, order=found.order[:1], scope="layer"),
        lambda: api.unprotect(*found.weights, order=found.order, scope="layer", shapes=[(6, 21)]),
        lambda: found.write(["a.npy"], "o.npy"),
    ):
        with pytest.raises(api.InputError):
            bad()


def test_messages_name_what_a_caller_of_python_has_given(files: Path) -> None:
    found = api.protect(ONE, TWO, seed=3)
    with pytest.raises(api.InputError, match=r"^shapes has 1 shape for 2 arrays of weights$"):
        api.unprotect(*found.weights, order=found.order, shapes=[(6, 21)])
    Path("o.toml").write_text("x = 1\n")
    with pytest.raises(api.InputError, match=r"^o\.toml is there and no note") as caught:
        found.write(["a.npy", "b.npy"], "o.npy")
    assert caught.value.hint == "order='other.npy', --order other.npy"


@pytest.mark.parametrize("weights", [ONE, ONE.astype(np.int64)], ids=["odd shape", "wrong type"])
def test_wrong_orders_are_named_before_weights(weights: np.ndarray) -> None:
    """Without orders that have the right form, nothing can be said about the weights."""
    with pytest.raises(api.InputError, match=r"^the orders are int64 of the shape \(2,\)"):
        api.unprotect(weights, order=[1, 2])


@pytest.mark.parametrize(
    "way", ["same", "path", "symlink", "dangling", "hard link", "folder", "note"]
)
def test_both_never_go_into_one_file(refused: Callable[..., str], files: Path, way: str) -> None:
    """`macaw protect` never writes weights and orders into one file (seed 002 ¶105).

    Different names of the same file are noticed. A person who takes the weights must not get the
    orders, too.
    """
    names = {
        "same": ("x.npy", "x.npy"),
        "path": ("x.npy", "./sub/../x.npy"),
        "symlink": ("x.npy", "link.npy"),
        "dangling": ("y.npy", "hanging.npy"),
        "hard link": ("x.npy", "hard.npy"),
        "folder": ("sub/y.npy", "other/y.npy"),
        "note": ("y.toml", "y.npy"),
    }
    Path("sub").mkdir()
    Path("x.npy").write_bytes(b"kept")
    Path("link.npy").symlink_to("x.npy")
    Path("hanging.npy").symlink_to("y.npy")
    os.link("x.npy", "hard.npy")
    Path("other").symlink_to("sub")
    for one, other in (names[way], names[way][::-1]):
        said = refused("one.npy", "-o", one, "--order", other)
        assert "are one file: it cannot hold both" in said
        with pytest.raises(api.InputError, match="cannot hold both"):
            api.protect(ONE).write([one], other)
    assert Path("x.npy").read_bytes() == b"kept"
    assert not Path("y.npy").exists()
    assert not list(Path("sub").iterdir())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("one.npy -o one.npy --order o.npy", "one.npy is an input: it is not overwritten"),
        ("one.npy -o s.npy --order ./one.npy", "one.npy is an input: it is not overwritten"),
        ("one.npy two.npy -o s.npy -o s.npy --order o.npy", "s.npy and s.npy are one file"),
        ("one.npy two.npy -o s.npy --order o.npy", "2 files of weights, 1 of -o"),
        ("one.npy -o s.npy --order network.npy", "network.toml is there and no note of macaw"),
        ("one.npy -o s.npy --order o.npy --scope nodes", "'nodes' is no scope"),
        ("one.npy -o s.npy --order o.npy --scope group:0", "'group:0' is no scope"),
        ("one.npy -o s.npy --order o.npy --lanes 5", "no format of pmac has 5 lanes"),
        (
            "wide.npy -o s.npy --order o.npy --lanes 16",
            "a register does not hold 16 lanes of int16",
        ),
        ("line.npy -o s.npy --order o.npy", "the weights have the shape (6,)"),
        ("column.npy -o s.npy --order o.npy", "a node of one weight has no order"),
        ("long.npy -o s.npy --order o.npy", "the weights hold int64, which pmac cannot multiply"),
        ("network.toml -o s.npy --order o.npy", "network.toml is no .npy file"),
        ("none.npy -o s.npy --order o.npy", "cannot read none.npy: No such file or directory"),
        ("one.npy -o s.npy --order none/o.npy", "cannot write none/o.toml: No such file"),
        ("one.npy -o none/s.npy --order o.npy", "cannot write none/s.npy: No such file"),
        ("one.npy -o s.npy --order .", "'.' is no name of a file"),
        ("one.npy -o s.npy --order o.npy --seed -1", "-1 is not in the range x>=0"),
        ("one.npy -o s.npy", "Missing option '--order'"),
        ("-o s.npy --order o.npy", "Missing argument 'WEIGHTS...'"),
    ],
)
def test_errors(refused: Callable[..., str], files: Path, words: str, message: str) -> None:
    np.save("wide.npy", ONE.astype(np.int16))
    np.save("long.npy", ONE.astype(np.int64))
    np.save("line.npy", ONE[:, 0])
    np.save("column.npy", ONE[:, :1])
    Path("network.toml").write_text("[mine]\nname = 'network'\n")
    before = listing(files)
    assert message in refused(*words.split())
    assert listing(files) == before


UNDO = "--undo s1.npy s2.npy -o a.npy -o b.npy --order o.npy"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--undo s1.npy s2.npy -o s1.npy -o b.npy --order o.npy", "s1.npy is an input"),
        ("--undo s1.npy s2.npy -o a.npy -o o.npy --order o.npy", "are one file"),
        ("--undo s1.npy s2.npy -o a.npy -o o.toml --order o.npy", "are one file"),
        ("--undo s1.npy s2.npy -o a.npy -o b.npy --order t.npy", "t.toml is not there"),
        ("--undo s1.npy -o a.npy --order o.npy", "the orders are for 2 files of weights, 1 given"),
        ("--undo s2.npy s1.npy -o a.npy -o b.npy --order o.npy", "protected: s1.npy, s2.npy"),
        ("--undo s1.npy one.npy -o a.npy -o b.npy --order o.npy", "one.npy holds other weights"),
        ("--undo s1.npy s2.npy -o a.npy -o b.npy --order other.npy", "s1.npy holds other weights"),
        (
            "--undo s1.npy s2.npy -o a.npy -o b.npy --order moved.npy",
            "moved.npy holds other orders",
        ),
        (f"{UNDO} --scope layer", "o.toml says scope node, not layer"),
        (f"{UNDO} --lanes 8", "o.toml says lanes 16, not 8"),
        (f"{UNDO} --seed 3", "--undo draws no orders"),
        ("--undo s1.npy s2.npy -o a.npy -o b.npy --order bad.npy", "bad.toml is no note of macaw"),
        ("--undo s1.npy s2.npy -o a.npy -o b.npy --order torn.npy", "torn.toml cannot be read"),
        ("--undo s1.npy s2.npy -o a.npy -o b.npy --order deep.npy", "deep.toml cannot be read"),
        ("--undo s1.npy s2.npy -o a.npy -o b.npy --order lies.npy", "have not been (6, 999)"),
        ("--undo s1.npy s2.npy -o a.npy -o b.npy --order odd.npy", "'odd' is no scope"),
        (
            "--undo s1.npy s2.npy -o a.npy -o b.npy --order half.npy",
            "half.toml says lanes 8, the orders have 16",
        ),
    ],
)
def test_errors_of_undo(refused: Callable[..., str], files: Path, words: str, message: str) -> None:
    api.protect(ONE, TWO, scope="node").write(["s1.npy", "s2.npy"], "o.npy")
    api.protect(TWO, ONE, scope="node").write(["x.npy", "y.npy"], "other.npy")
    note = Path("o.toml").read_text()
    for name in ("t", "moved", "bad", "torn", "deep", "lies", "odd", "half"):
        Path(f"{name}.npy").write_bytes(Path("o.npy").read_bytes())
    Path("moved.npy").write_bytes(Path("other.npy").read_bytes())
    Path("moved.toml").write_text(note)
    Path("bad.toml").write_text(note.replace("shape = ", "shapes = "))
    Path("torn.toml").write_text(note[:200])
    Path("deep.toml").write_text(f"scope = {'[' * 20000}")
    Path("lies.toml").write_text(note.replace("[6, 21]", "[6, 999]"))
    Path("odd.toml").write_text(note.replace('"node"', '"odd"'))
    Path("half.toml").write_text(note.replace("lanes = 16", "lanes = 8"))
    before = listing(files)
    assert message in refused(*words.split())
    assert listing(files) == before


def test_files_of_any_name(macaw: Macaw, files: Path) -> None:
    name = 'a "quoted" \\ 😀\n\x7f.npy'
    assert macaw("protect", "one.npy", "-o", name, "--order", "o.npy").returncode == 0
    assert macaw("protect", "--undo", name, "-o", "b.npy", "--order", "o.npy").returncode == 0
    assert Path("b.npy").read_bytes() == Path("one.npy").read_bytes()


def test_the_lines_of_the_manual(macaw: Macaw, files: Path) -> None:
    """The commands and the Python of docs/protection.md run as they are."""
    text = (ROOT / "docs" / "protection.md").read_text("utf-8")
    np.save("weights.npy", ONE)
    for name in ("w1", "w2", "w3"):
        np.save(f"{name}.npy", ONE)
    np.save("x.npy", np.arange(21, dtype=np.int8))
    lines = re.findall(r"^    macaw (protect (?:.*\\\n)*.*)", text, flags=re.M)
    assert len(lines) >= 3
    for line in lines:
        done = macaw(*line.replace("\\\n", " ").split())
        assert (done.returncode, done.stderr) == (0, "")
    assert Path("again.npy").read_bytes() == Path("weights.npy").read_bytes()
    python = "".join(re.findall(r"^    (?!macaw |  )(.*\n)", text.split("## From Python")[1], re.M))
    exec(python, {})
