"""The decorators of the software for PyTorch that give gradients, with a stand-in for PyTorch."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

import macaw.lowering.concord

TEMPLATE = Path(macaw.lowering.concord.__file__).parent / "templates" / "torch_gradients.txt"


class Number(float):
    """A tensor of one number."""

    requires_grad = False


def torch():
    """What the template uses of PyTorch: whether gradients are on, and what turns them off."""
    state = SimpleNamespace(on=True)

    @contextmanager
    def no_grad():
        before, state.on = state.on, False
        yield
        state.on = before

    return SimpleNamespace(
        Tensor=Number,
        autograd=SimpleNamespace(Function=object),
        nn=SimpleNamespace(Module=object),
        is_grad_enabled=lambda: state.on,
        no_grad=no_grad,
    )


@pytest.fixture
def names():
    """The names that the template defines."""
    defined = {"torch": torch(), "NamedTuple": NamedTuple}
    exec(TEMPLATE.read_text("utf-8"), defined)
    return defined


def test_a_number_that_needs_no_gradient_is_quantised_again(names):
    """`requantise` calls `quantise`, which must then give numbers, not numbers with their source.

    `python -m tests.lowering.concord` found that it did not, with gradients on (the default).
    """
    quantise = names["straight_quantiser"](lambda x: Number(round(x)))
    requantise = names["straight"](lambda x: x)(lambda x: quantise(x) + 0.5)
    assert requantise(Number(2.2)) == 2.5
    assert isinstance(quantise(Number(2.2)), names["Tracked"])


def test_with_gradients_the_bits_are_those_of_the_function(names):
    names["Through"].apply = staticmethod(lambda exact, plain: (exact, plain))
    quantise = names["straight_quantiser"](lambda x: Number(round(x)))
    requantise = names["straight"](lambda x: x)(lambda x: quantise(x) + 0.5)
    x = Number(2.2)
    x.requires_grad = True
    assert requantise(x) == (2.5, x)
