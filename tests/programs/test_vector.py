"""The programs of the SIMD core compute what NumPy does, for committed and for other inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macaw
from macaw.emu.numerics import round_half_even_shift, saturate
from tests.programs.scripts import PROGRAMS, script

ORDERS = ("order_net", "order_layer", "order_group", "order_node")


def array(folder: str, name: str) -> np.ndarray:
    return np.load(PROGRAMS / folder / f"{name}.npy")


def program(folder: str, name: str) -> macaw.Program:
    return macaw.assemble(PROGRAMS / folder / f"{name}.s")


# Figure 8


def sums(x: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """b + (((m0 + m1) + m2) + m3) in binary32: what a node of figure 8 computes."""
    m = weights * x
    assert m.dtype == np.float32
    return biases + (((m[:, 0] + m[:, 1]) + m[:, 2]) + m[:, 3])


def figure_8(x: np.ndarray) -> np.ndarray:
    """The outputs of nodes 4 to 9 of figure 8, float32 (6,)."""
    b = array("fig8", "b")
    first = sums(x, array("fig8", "w1"), b[:4])
    return np.concatenate((first, sums(first, array("fig8", "w2"), b[4:])))


def test_every_scope_gives_the_outputs_of_the_plain_network_in_the_same_cycles() -> None:
    """Shuffled weights give the outputs of plain ones in the same cycles (seed 002 ¶77, ¶79).

    Each node adds its bias, which is in a3, to the weighted sum (seed 002 ¶102-103, ¶115-122).
    """
    made = program("fig8", "fig8")
    orders: dict[str, Any] = {name: array("fig8", name) for name in ORDERS}
    chance = np.random.default_rng(3)
    for x in (array("fig8", "x"), *chance.normal(size=(4, 4)).astype(np.float32)):
        run = macaw.run(made, x=x, **orders)
        wanted = figure_8(x)
        for row in run.outputs["y"]:
            assert row.tobytes() == wanted.tobytes()
        assert len(set(run.outputs["cycles"].tolist())) == 1


@pytest.mark.parametrize(("place", "name"), list(enumerate(ORDERS, 1)))
def test_with_a_wrong_order_that_scope_alone_is_wrong(place: int, name: str) -> None:
    """If one scope has a wrong order, only its outputs are wrong (seed 002 ¶76, ¶78)."""
    orders: dict[str, Any] = {other: array("fig8", other) for other in ORDERS}
    orders[name] = np.tile(np.arange(4, dtype=np.uint8), (*orders[name].shape[:2], 1))
    x = array("fig8", "x")
    y = macaw.run(program("fig8", "fig8"), x=x, **orders).outputs["y"]
    right = [np.array_equal(row, figure_8(x)) for row in y]
    assert right == [number != place for number in range(5)]


def test_the_stored_weights_are_those_of_the_seed() -> None:
    """The order 0, 3, 1, 2 stores w40, w42, w43, w41, w50, ... (seed 002 ¶107, ¶108)."""
    assert array("fig8", "order_net").tolist() == [[[0, 3, 1, 2]]]
    for number in (1, 2):
        plain, stored = array("fig8", f"w{number}"), array("fig8", f"net{number}")
        assert np.array_equal(stored, plain[:, [0, 2, 3, 1]])


@pytest.mark.parametrize("name", ["net", "layer", "group", "node"])
def test_no_row_stands_in_its_own_order(name: str) -> None:
    for number in (1, 2):
        plain, stored = array("fig8", f"w{number}"), array("fig8", f"{name}{number}")
        assert not (plain == stored).all(axis=1).any()
        assert np.array_equal(np.sort(plain), np.sort(stored))


# The others: result in NumPy from the arrays of a folder and an input.


def dot(x: np.ndarray) -> np.ndarray:
    return np.asarray(x.astype(np.int64) @ array("vector_dot", "w")[0].astype(np.int64))


def matvec(x: np.ndarray) -> np.ndarray:
    return array("matvec", "w").astype(np.int64) @ x + array("matvec", "b")


def conv1d(x: np.ndarray) -> np.ndarray:
    taps = array("conv1d", "w")[0].astype(np.int64)
    found = np.correlate(x[:63].astype(np.int64), taps, "valid")
    return saturate(round_half_even_shift(found, 8), 16)


CASES = [("vector_dot", "dot", dot), ("matvec", "matvec", matvec), ("conv1d", "conv1d", conv1d)]


@pytest.mark.parametrize(("folder", "name", "wanted"), CASES, ids=[x[0] for x in CASES])
def test_plain_and_shuffled_are_numpys(folder, name, wanted) -> None:
    made, order, own = program(folder, name), array(folder, "order"), array(folder, "x")
    chance = np.random.default_rng(4)
    ends = np.iinfo(own.dtype) if own.dtype == np.int8 else None
    low, high = (ends.min, ends.max) if ends else (-8000, 8000)
    for x in (own, *chance.integers(low, high, (3, len(own)), endpoint=True).astype(own.dtype)):
        run = macaw.run(made, x=x, order=order)
        plain, shuffled = run.outputs["y"]
        assert np.array_equal(plain, wanted(x))
        assert np.array_equal(shuffled, wanted(x))
        assert len(set(run.outputs["cycles"].tolist())) == 1


@pytest.mark.parametrize(("folder", "name", "wanted"), CASES, ids=[x[0] for x in CASES])
def test_a_wrong_order_gives_something_else(folder, name, wanted) -> None:
    own, order = array(folder, "x"), array(folder, "order")
    plain, shuffled = macaw.run(program(folder, name), x=own, order=order[..., ::-1]).outputs["y"]
    assert np.array_equal(plain, wanted(own))
    assert not np.array_equal(shuffled, wanted(own))


@pytest.mark.parametrize("path", ["fig8/make.py", "vector_files.py"])
def test_the_files_are_those_that_the_scripts_make(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = script(path)
    monkeypatch.setattr(module, "HERE", tmp_path)
    for folder in ("vector_dot", "matvec", "conv1d"):
        (tmp_path / folder).mkdir()
    module.main()
    home = (PROGRAMS / path).parent
    made = list(tmp_path.rglob("*.npy"))
    assert made
    for file in made:
        assert file.read_bytes() == (home / file.relative_to(tmp_path)).read_bytes(), file.name
