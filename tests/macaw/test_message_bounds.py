"""Messages cut a user's long words and long lists, so that they stay short."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import numpy as np
import pytest
from onnx import TensorProto, helper

from macaw import golden_tests, quantisation
from macaw.array_comparison import MOST_SHOWN as MOST_ELEMENTS
from macaw.array_comparison import array_differences
from macaw.commands import lower, lower_fim
from macaw.debugger.dap import arguments as dap
from macaw.debugger.dap.breakpoints import ignore_of
from macaw.debugger.gdb.motion import parse_actions
from macaw.debugger.gdb.packets import parse_number
from macaw.isa import config
from macaw.lowering.onnx.read import Wishes, read
from macaw.lowering.onnx.samples import samples
from macaw.sweeps.points import axis

LONG = "y" * 500


def pair(text: str) -> object:
    call: Any = lower._pair
    return call(None, None, text)


def four(text: str) -> object:
    call: Any = lower._four
    return call(None, None, text)


def address(text: str) -> object:
    return dap.address({"memoryReference": text}, "memoryReference")


DIGITS = "9" * 500
CUTS: list[tuple[Callable[[str], object], str, int]] = [
    (axis, LONG, 80),
    (pair, DIGITS, 40),
    (four, LONG, 40),
    (four, f"{DIGITS},1,1,1", 40),
    (lambda text: lower_fim.dimensions([text]), f"n={DIGITS}", 40),
    (lower_fim.budget, LONG, 40),
    (address, LONG, 40),
    (address, DIGITS, 40),
    (ignore_of, LONG, 40),
    (parse_number, LONG, 20),
    (parse_actions, LONG, 20),
]


@pytest.mark.parametrize(("call", "text", "most"), CUTS)
def test_a_long_word_is_cut(call: Callable[[str], object], text: str, most: int) -> None:
    with pytest.raises((Exception, click.ClickException)) as caught:
        call(text)
    said = str(getattr(caught.value, "message", caught.value))
    assert text[:most] in said
    assert text[: most + 1] not in said


@pytest.mark.parametrize("length", [200, 201])
def test_a_long_value_of_a_golden_record_is_cut(length: int) -> None:
    text = golden_tests._value_text("x" * (length - 2))
    assert len(text) == 200
    assert text.endswith("..." if length > 200 else "x'")
    assert golden_tests._value_text(12345) == "12,345"


@pytest.mark.parametrize(("cut", "most"), [(config._cut, 60), (config._shown, 80)])
def test_a_long_word_of_a_device_is_cut(cut: Callable[[str], str], most: int) -> None:
    assert cut("a" * most) == "a" * most
    assert cut("a" * (most + 1)) == "a" * (most - 3) + "..."


def test_lists_of_lines_end() -> None:
    lines = [str(n) for n in range(MOST_ELEMENTS + 3)]
    shown = golden_tests._first_lines("stdout", lines)
    assert shown == [*lines[:MOST_ELEMENTS], "... and 3 more of stdout"]
    assert golden_tests._first_lines("stdout", lines[:-3]) == lines[:-3]
    expected = np.zeros(MOST_ELEMENTS + 2, np.int32)
    said = array_differences("y", expected, expected + 1)
    assert len(said) == MOST_ELEMENTS + 2
    assert said[-1] == "  ... and 2 more"
    assert len(array_differences("y", expected[2:], expected[2:] + 1)) == MOST_ELEMENTS + 1


def many_inputs(count: int) -> Any:
    inputs = [
        helper.make_tensor_value_info(f"in{n}", TensorProto.FLOAT, [f"d{n}", 2])
        for n in range(count)
    ]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node("Relu", ["in0"], ["y"])
    graph = helper.make_graph([node], "many", inputs, [result])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda made: read(made, Wishes(dims={"no": 1})), "d"),
        (lambda made: read(made, Wishes(shapes={"no": (1, 2)})), "in"),
        (lambda made: samples(made, {"no": np.zeros((1, 2))}, {}, ()), "in"),
    ],
)
def test_eight_names_of_a_model_are_said(call: Callable[[Any], object], name: str) -> None:
    with pytest.raises(Exception, match="'no'") as caught:
        call(many_inputs(10))
    error: Any = caught.value
    assert error.hint == f"there are {', '.join(f'{name}{n}' for n in range(8))}"


def test_a_quantised_model_names_a_few_layers_and_inputs() -> None:
    floats = tuple(f"layer{n}" for n in range(8))
    model = quantisation.QuantisedModel(many_inputs(1), (), floats)
    said = " ".join(model._summary().split())
    assert said == (
        "0 layers on integers, 8 floating-point: layer0, layer1, layer2, layer3, layer4, layer5"
        " and 2 more"
    )
    with pytest.raises(Exception, match="10 inputs") as caught:
        quantisation.data_by_name(np.zeros(2), [f"in{n}" for n in range(10)], [])
    assert str(caught.value).count("in") == 1 + 8
