"""The digits network with weights in a random order: outputs, a thief's accuracy, and cycles."""

import re
from types import ModuleType

import numpy as np
import pytest

import macaw
from tests.programs.scripts import PROGRAMS, script

pytestmark = pytest.mark.once

FOLDER = PROGRAMS / "digits_protected"
SCOPES = ("plain", "net", "layer", "group", "node")


@pytest.fixture(scope="module")
def protected() -> ModuleType:
    """programs/digits_protected/protected.py, which belongs to no package."""
    return script("digits_protected/protected.py")


def table() -> dict[str, int]:
    """The cycles of each program, by its name, as the README states them."""
    rows = re.findall(
        r"^\| `(\w+)\.s` \|.*\| ([\d,]+) \| ([^|]*)\|$",
        (FOLDER / "README.md").read_text("utf-8"),
        re.M,
    )
    found = {name: int(cycles.replace(",", "")) for name, cycles, _ in rows}
    for name, _, more in rows[1:]:
        price = found[name] - found["plain"]
        assert more.strip() == f"{price:+,} ({price / found['plain']:+.2%})"
    return found


@pytest.mark.few(1)  # of `node`; the golden test runs `net`
@pytest.mark.parametrize("group", [4, 3, 2, 1, 0])
def test_every_output_is_that_of_the_plain_network(protected: ModuleType, group: int) -> None:
    """Each program gives the plain network's outputs for 80 of the 400 images and new orders.

    Cycles depend neither on images nor on orders, so they equal the README's.
    """
    name = SCOPES[group]
    images, _ = protected.reference.load_test_set()
    if name == "plain":
        values = protected.plain_inputs()
    else:
        found = protected.protect(name)
        values = protected.inputs(found)
        for plain, stored in zip(protected.weights(), found.weights, strict=True):
            assert not np.array_equal(plain, stored)
    run = protected.run(protected.program(name), values, images[group])
    expected = protected.reference.forward(images[group])
    np.testing.assert_array_equal(run.outputs["y"], expected)
    assert run.cycles == table()[name]


def test_scope_net_costs_nothing() -> None:
    cycles = table()
    assert tuple(cycles) == SCOPES
    assert cycles["net"] <= cycles["plain"]


@pytest.mark.parametrize("name", SCOPES[1:])
def test_wrong_orders_are_worth_nothing(protected: ModuleType, name: str) -> None:
    """With other orders the network reads at most 30% of 400 images right on average (NumPy).

    With the identity as order it reads at most 30% right too.
    """
    reference = protected.reference
    images, labels = reference.load_test_set()
    network = reference.load()
    found = protected.protect(name, seed=1)
    scope = protected.SCOPES[name]

    def accuracy(order: np.ndarray) -> float:
        weights = macaw.unprotect(*found.weights, order=order, scope=scope)
        guess = reference.Network(tuple(weights), network.biases, network.shifts)
        return float(reference.accuracy(images, labels, guess))

    assert accuracy(found.order) == reference.accuracy(images, labels) > 0.99
    wrong = [accuracy(protected.protect(name, seed=seed).order) for seed in range(100, 120)]
    assert np.mean(wrong) <= 0.3
    identity = np.broadcast_to(np.arange(16, dtype=np.uint8), found.order.shape)
    assert accuracy(identity) <= 0.3


@pytest.mark.long
def test_wrong_orders_on_the_core(protected: ModuleType) -> None:
    """With wrong orders, vc gives the outputs that NumPy does with them; at most 30% are right."""
    reference = protected.reference
    images, labels = reference.load_test_set()
    network = reference.load()
    found, other = protected.protect("net", seed=2), protected.protect("net", seed=3)
    values = protected.inputs(found, other.order)
    run = protected.run(protected.program("net"), values, images[0])
    weights = macaw.unprotect(*found.weights, order=other.order)
    wrong = reference.Network(tuple(weights), network.biases, network.shifts)
    np.testing.assert_array_equal(run.outputs["y"], reference.forward(images[0], wrong))
    assert (run.outputs["y"].argmax(axis=-1) == labels[0]).mean() <= 0.3


def test_the_committed_files(protected: ModuleType) -> None:
    """The committed weights, restored with order.npy, are the network's.

    So are the biases, the images and the logits.
    """
    from macaw.protection import restore_files

    paths = [FOLDER / f"w{number}.npy" for number in (1, 2, 3)]
    for plain, found in zip(
        protected.weights(),
        restore_files(paths, FOLDER / "order.npy", scope=None, lanes=None),
        strict=True,
    ):
        np.testing.assert_array_equal(found, plain)
    for name, bias in protected.biases().items():
        np.testing.assert_array_equal(np.load(FOLDER / f"{name}.npy"), bias)
    images, _ = protected.reference.load_test_set()
    np.testing.assert_array_equal(np.load(FOLDER / "x.npy"), images[0])
    expected = np.load(FOLDER / "expected" / "y.npy")
    np.testing.assert_array_equal(expected, protected.reference.forward(images[0]))


def test_shifts_are_those_of_the_network(protected: ModuleType) -> None:
    text = (FOLDER / "network.inc").read_text("utf-8")
    found = re.findall(r"\.equ +SHIFT\d, (\d+)", text)
    assert tuple(map(int, found)) == protected.reference.load().shifts
