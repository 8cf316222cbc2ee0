"""cp's code that layers share: one text for layers of one kind, with their numbers in records."""

from __future__ import annotations

import re

import numpy as np
import pytest

from macaw.isa.config import load
from macaw.lowering.choose import choose
from macaw.lowering.convolution import convolution
from macaw.lowering.listing import Listing
from macaw.lowering.operation import Product
from macaw.lowering.plan import ProductPlan
from macaw.lowering.processor_program import code_parts, processor_constants
from macaw.lowering.shared_code import CodeLibrary, IncludeLibrary

_FROM_RECORD = re.compile(r"lw +(\w+), (\d+)\(gp\)")


def product_plan(rows: int, inputs: int, outputs: int, mapping: str = "weight") -> ProductPlan:
    """A plan of a product on `tiny`."""
    weights = np.ones((outputs, inputs), np.int8)
    product = Product(rows, weights, np.ones(outputs, np.int32), shift=3)
    config = load("tiny")
    return choose(product.validated(config), config, mapping=mapping, split="a").selection.plan


def padded_plan(size: int, kernel: int) -> ProductPlan:
    """A plan of a convolution with padding on `tiny`."""
    product = convolution(
        np.ones((9, kernel, kernel, 3), np.int8), (size, size), padding=(1, 1), shift=3
    )
    config = load("tiny")
    return choose(product.validated(config), config, mapping="weight", split="a").selection.plan


def statements(text: str) -> list[str]:
    """The statements of a source without labels, comments and `.equ`, with single spaces."""
    lines = (line.partition("#")[0] for line in text.splitlines())
    words = (" ".join(re.sub(r"^(\w+:\s*)*", "", line.strip()).split()) for line in lines)
    return [line for line in words if line and not line.startswith(".")]


def parts(source: str) -> list[str]:
    """Return the names of the include files that make up a subroutine, without `.inc`."""
    found = re.search(r"\.irp +part, (.*)", source)
    assert found is not None
    return found[1].split(", ")


def test_layers_of_one_kind_share_their_code():
    includes = IncludeLibrary()
    library = CodeLibrary(includes)
    few, many = (
        library.code(product_plan(4, 8, 4), reports=False),
        library.code(product_plan(64, 40, 24), reports=False),
    )
    assert few.symbol == many.symbol == "array_1"
    assert few.parameters != many.parameters
    assert len(few.parameters) == len(many.parameters)
    other = library.code(product_plan(4, 8, 4, "input"), reports=False)
    assert other.symbol == "array_2"
    one, two = library.sources().values()
    assert list(library.sources()) == ["array_1", "array_2"]
    assert "store_1" in parts(one)
    assert "store_1" in parts(two)
    assert "step_1" in parts(one)
    assert "step_2" in parts(two)
    assert {"store_1.inc", "step_1.inc", "step_2.inc"} <= set(includes.texts())


@pytest.mark.parametrize(
    "plan",
    [product_plan(40, 30, 20), product_plan(40, 30, 20, "output"), padded_plan(9, 3)],
    ids=["weight stationary", "output stationary", "padding"],
)
def test_with_its_record_the_code_is_that_of_the_layer(plan):
    """Shared code equals the layer's own code if the record's numbers replace the loads."""
    includes = IncludeLibrary()
    library = CodeLibrary(includes)
    shared = library.code(plan, reports=False)
    (source,) = library.sources().values()
    source = "".join(includes.texts()[f"{part}.inc"] for part in parts(source))
    alone = Listing()
    for part in code_parts(plan, shared=True, reports=False).values():
        alone.append(part)
    values = {name: value for name, (value, _) in processor_constants(plan).items()}
    found, expected = statements(source), statements(alone.text())
    assert len(found) == len(expected)
    loads = 0
    for line, whole in zip(found, expected, strict=True):
        load = _FROM_RECORD.fullmatch(line)
        if load is None:
            assert line == whole
            continue
        loads += 1
        target = re.fullmatch(r"(?:li|la) (\w+), (.+)", whole)
        assert target is not None
        assert target[1] == load[1]
        word = shared.parameters[int(load[2]) // 4]
        assert _number(word, values) == _number(target[2], values)
    assert loads >= sum(word != "0" for word in shared.parameters) > 10


def _number(expression: str, values: dict[str, str]) -> object:
    """The value of an expression of constants, or its text if it has labels."""
    for _ in range(2):
        expression = re.sub(r"\b[A-Z]\w*\b", lambda name: values.get(name[0], name[0]), expression)
    return eval(expression) if re.fullmatch(r"[\dxa-f+*<>() -]+", expression) else expression


def listing(*lines: str) -> Listing:
    """A listing of some lines."""
    out = Listing()
    for line in lines:
        out.put(line)
    return out


def test_a_text_has_one_file():
    includes = IncludeLibrary()
    assert includes.texts() == {}
    assert includes.name("shape", listing("a")) == "shape_1.inc"
    assert includes.name("shape", listing("a")) == "shape_1.inc"
    assert includes.name("frame", listing("a")) == "frame_1.inc"
    assert includes.name("shape", listing("b")) == "shape_2.inc"
    texts = {name: text.strip() for name, text in includes.texts().items()}
    macros = texts.pop("macros.inc")
    assert ".macro  layer name, code" in macros
    assert texts == {"shape_1.inc": "a", "frame_1.inc": "a", "shape_2.inc": "b"}
