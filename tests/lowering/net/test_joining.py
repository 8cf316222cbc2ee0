"""Concatenations without copies: the array writes each part into the result."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import macaw
from macaw.isa.config import load
from macaw.lowering.net import assign
from macaw.networks import compiler, model_files
from tests.lowering.net.models import ModelBuilder

pytestmark = pytest.mark.usefixtures("few_plans")

SCALE = 2.0**-4
SIDES = (6, 5)  # of the images
Branch = Callable[[ModelBuilder], None]


def conv(name: str, outputs: int, kernel: int, **more: Any) -> Branch:
    return lambda builder: builder.conv(name, outputs, kernel, relu=False, **more)


def pool(name: str) -> Branch:
    return lambda builder: builder.pool(name, "MaxPool", 3, pads=[1, 1, 1, 1])


def branched(
    *branches: Branch, channels: int = 6, batch: int = 1, join: float = SCALE, seed: int = 3
) -> ModelBuilder:
    """A network with a convolution, concatenated branches, and a convolution."""
    builder = ModelBuilder(seed, (batch, 4, *SIDES))
    builder.conv("stem", channels, 3, padding=1, relu=False)
    start = builder.value, builder.shape, builder.scale
    ends = []
    for branch in branches:
        builder.value, builder.shape, builder.scale = start
        branch(builder)
        ends.append((builder.value, builder.shape))
    builder.value = builder.node("Concat", [value for value, _ in ends], "both", axis=1)
    builder.quantise("both", join)
    outputs = sum(shape[1] for _, shape in ends)
    builder.shape = (ends[0][1][0], outputs, *ends[0][1][2:])
    builder.conv("last", 3, 3, padding=1)
    return builder


def image(builder: ModelBuilder) -> dict[str, Any]:
    return {
        "x": np.random.default_rng(1).normal(size=(builder.shape[0], 4, *SIDES)).astype(np.float32)
    }


FIRE = (conv("one", 5, 1), conv("three", 7, 3, padding=1))
CASES = {
    "tiny": (branched(*FIRE), "tiny"),
    "base": (branched(*FIRE), "base"),
    "three branches, one depthwise, with strides": (
        branched(
            conv("one", 9, 1, stride=2),
            conv("each", 6, 3, stride=2, padding=1, group=6),
            conv("real", 3, 2, stride=2, pads=(0, 0, 1, 1), each=True, scale=0.02),
        ),
        "tiny",
    ),
    "a batch": (branched(*FIRE, batch=2), "tiny"),
    "sums of many channels": (branched(conv("one", 5, 1), conv("two", 40, 1), channels=36), "tiny"),
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("case", CASES)
def test_the_array_writes_the_parts(case):
    """On both engines, the parts and the whole equal the definition; no layer copies them."""
    builder, device = CASES[case]
    network = macaw.compile(builder.model(), device=device)
    assert not any(layer.operator.startswith("concat") for layer in network.layers)
    inputs = image(builder)
    run = network.run(inputs)
    slow = network.run(inputs, engine="reference")
    assert [layer.report.name for layer in run.layers if not layer.equal] == []
    assert [x.cycles for x in run.layers] == [x.cycles for x in slow.layers]
    parts = [name for name in run.tensors if network.symbols[name] in network.columns]
    starts = sorted(parts, key=lambda name: network.columns[network.symbols[name]].first)
    whole = np.concatenate([run.tensors[name] for name in starts], axis=1)
    np.testing.assert_array_equal(run.tensors["both"], whole)
    for name, tensor in run.tensors.items():
        np.testing.assert_array_equal(tensor, slow.tensors[name], err_msg=name)
    predicted = sum(layer.predicted for layer in network.layers)
    assert predicted == pytest.approx(run.cycles, rel=0.15)


def test_writing_parts_takes_fewer_cycles_than_copying(monkeypatch, tmp_path):
    """Writing parts takes fewer cycles than copying them.

    A program of an older Macaw copies the parts. It can still be read, and its results are equal.
    """
    builder = branched(*FIRE)
    network = macaw.compile(builder.model(), device="base")
    with monkeypatch.context() as patch:
        patch.setattr(assign, "column_writers", lambda *_: {})
        older = macaw.compile(builder.model(), device="base")
    assert [layer.operator for layer in older.layers].count("concat") == 1
    older.write(tmp_path)
    text = (tmp_path / "net.json").read_text("utf-8")
    description = json.loads(text)
    assert (description["format"], description.pop("columns")) == (2, {})
    (tmp_path / "net.json").write_text(json.dumps(description | {"format": 1}), "utf-8")
    again = compiler.load_network(tmp_path)
    assert isinstance(again, macaw.CompiledNetwork)
    runs = [one.run(image(builder)) for one in (network, again)]
    assert all(layer.equal for run in runs for layer in run.layers)
    for name in runs[1].tensors:
        np.testing.assert_array_equal(runs[0].tensors[name], runs[1].tensors[name], err_msg=name)
    assert runs[0].cycles < runs[1].cycles
    predicted = [sum(x.predicted for x in one.layers) for one in (network, again)]
    assert predicted[0] < predicted[1]


def copied(builder: ModelBuilder) -> None:
    """Assert that the device copies the parts of a concatenation."""
    network = assign.assign(model_files.layers(builder.model(), {}), load("tiny"), "net").network
    assert network.columns == {}
    assert [layer.output for layer in network.layers].count("both") == 1


def test_parts_are_copied_if_something_else_needs_them_alone():
    copied(branched(*FIRE, join=2.0**-3))  # another scale
    copied(branched(conv("one", 5, 1), pool("most")))  # vc makes one
    read_twice = branched(*FIRE)
    read_twice.conv("more", 5, 1)
    read_twice.add("again", "one_dq")
    copied(read_twice)
    twice = ModelBuilder(0, (1, 4, *SIDES))
    twice.conv("one", 5, 1)
    twice.value = twice.node("Concat", [twice.value, twice.value], "both", axis=1)
    twice.quantise("both", SCALE)
    twice.shape = (1, 10, *SIDES)
    copied(twice)
    rows = ModelBuilder(0, (1, 4, *SIDES))
    ends = []
    for name in ("one", "two"):
        rows.value, rows.shape, rows.scale = "in_dq", (1, 4, *SIDES), 2.0**-5
        rows.conv(name, 5, 1)
        ends.append(rows.value)
    rows.value = rows.node("Concat", ends, "both", axis=2)
    rows.quantise("both", SCALE)
    rows.shape = (1, 5, 2 * SIDES[0], SIDES[1])
    copied(rows)


def test_the_debugger_shows_the_columns_of_each_part():
    builder = branched(*FIRE)
    network = macaw.compile(builder.model(), device="tiny")
    inputs = image(builder)
    tensors = network.run(inputs).tensors
    session = macaw.debug(network.program, network.device_inputs(inputs))
    session.break_('"/three/Conv"')
    session.cont()
    states = {item.name: item for item in session.model_tensors()}
    assert states["one"].state == "there"
    assert (states["three"].state, states["both"].state) == ("in work", "in work")
    session.cont()
    states = {item.name: item for item in session.model_tensors()}
    assert {states[x].state for x in ("one", "three", "both")} == {"there"}
    assert states["three"].tensor.shape == (*SIDES, 7)
    for name in ("one", "three", "both"):
        stored = np.moveaxis(tensors[name][0], 0, -1)
        np.testing.assert_array_equal(session.read(f'"{name}"'), stored)
        np.testing.assert_array_equal(session.read(f'"{name}"[2:4, 1]'), stored[2:4, 1])
        assert session.read(f'"{name}"[5, 4, 4]') == stored[5, 4, 4]
    for name, layer in (("both[3, 2, 6]", "/three/Conv"), ('"one"[3, 2, 1]', "/one/Conv")):
        (cause,) = session.why(name)
        part = "three[3, 2, 1]" if name.startswith("both") else "one[3, 2, 1]"
        assert cause.where is not None
        assert cause.memory is not None
        assert (cause.name, cause.where.layer) == (part, layer)
        assert cause.memory[0] == session.read(f"&both[3, 2, {1 if layer == '/one/Conv' else 6}]")
    session.set('"three"[0, 0]', 7)
    assert session.read("both[0, 0]").tolist()[5:] == [7] * 7
    assert (
        session.read("both[0, 0]").tolist()[:5]
        == np.moveaxis(tensors["one"][0], 0, -1)[0, 0].tolist()
    )
