"""Networks as programs: each tensor equals NumPy's, in both engines."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import macaw
from macaw.emu.engines import ENGINES
from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.net.layer_plans import plan_layers
from macaw.lowering.net.network import Layer, Network
from macaw.lowering.net.program import network_program
from macaw.lowering.net.symbols import layer_symbols, tensor_symbols
from macaw.lowering.operation import Product
from macaw.lowering.row_program import program_bytes, unit_bytes
from tests.lowering.net.networks import (
    assembled,
    chain,
    expected,
    random_convolution,
    random_vector_product,
)

pytestmark = pytest.mark.usefixtures("few_plans")


def small_chain(seed: int) -> Network:
    """A chain of layers with different sources, and odd and even numbers of iterations."""
    rng = np.random.default_rng(seed)
    return chain(
        [
            random_convolution(rng, (9, 9, 3), 6, 3, padding=1),
            random_convolution(rng, (9, 9, 6), 6, 3, stride=2, depthwise=True),
            random_convolution(rng, (4, 4, 6), 10, 1),
            random_convolution(rng, (4, 4, 10), 5, 3, shift=7),
            random_vector_product(rng, 20, 10),
        ]
    )


def test_every_tensor_equals_numpys():
    config = load("tiny")
    network = small_chain(1)
    whole = replace(network, outputs=tuple(layer.output for layer in network.layers))
    program = network_program(whole, config)
    made = assembled(program)
    x = np.random.default_rng(2).integers(-128, 128, (9, 9, 3)).astype(np.int8)
    values = expected(network, config, x)
    for engine in ENGINES:
        run = macaw.run(made, {"image": x}, engine=engine)
        for layer in network.layers:
            found = run.outputs[program.symbols[layer.output]]
            np.testing.assert_array_equal(found, values[layer.output], err_msg=layer.name)


@pytest.mark.parametrize("device", ["tiny", "base"])
def test_layers_of_a_shape_share_their_source(device):
    """Layers of one shape share their source, although weights, zeros, shifts and tiles differ."""
    config, rng = load(device), np.random.default_rng(5)
    products = [random_convolution(rng, (8, 8, 6), 6, 3, padding=1, shift=n) for n in (6, 9, 7)]
    for product, zeros in zip(products, (0.1, 0.8, 0.5), strict=True):
        product.weights[rng.random(product.weights.shape) < zeros] = 0
    network = chain(products)
    whole = replace(network, outputs=tuple(layer.output for layer in network.layers))
    program = network_program(whole, config)
    includes = [re.findall(r'"(shape_.*)"', item.source) for item in program.sources.values()]
    assert [names for names in includes if names] == [["shape_1.inc"]] * 3
    x = rng.integers(-128, 128, (8, 8, 6)).astype(np.int8)
    run = macaw.run(assembled(program), {"image": x})
    for name, values in expected(network, config, x).items():
        if name in whole.outputs:
            np.testing.assert_array_equal(run.outputs[program.symbols[name]], values)


@pytest.mark.parametrize("outputs", [8, 64])
def test_sums_that_no_accumulator_stores_are_zeros(outputs):
    """Sums to which several clusters add start as zeros, whatever their memory held."""
    rng, config = np.random.default_rng(6), load("base")
    network = chain(
        [
            random_convolution(rng, (12, 12, 16), 16, 3, padding=1, shift=5),
            random_convolution(rng, (12, 12, 16), 16, 1, shift=4),
            random_vector_product(rng, 12 * 12 * 16, outputs),
        ]
    )
    program = network_program(network, config)
    last = program.plans[-1].choice
    assert last is not None
    assert last.selection.plan.reduces_clusters
    x = rng.integers(-128, 128, (12, 12, 16)).astype(np.int8)
    (name,) = network.outputs
    run = macaw.run(assembled(program), {"image": x})
    np.testing.assert_array_equal(
        run.outputs[program.symbols[name]], expected(network, config, x)[name]
    )


def test_tensors_between_layers_share_memory():
    config = load("base")
    network = small_chain(3)
    program = network_program(network, config)
    assert program.arena.size < sum(network.tensors[name].size for name in program.arena.offsets)
    x = np.random.default_rng(4).integers(-128, 128, (9, 9, 3)).astype(np.int8)
    run = macaw.run(assembled(program), {"image": x})
    (name,) = network.outputs
    np.testing.assert_array_equal(
        run.outputs[program.symbols[name]], expected(network, config, x)[name]
    )


def test_symbols_are_words_without_a_second_meaning():
    names = [
        "/a/b",
        "a b",
        "a0",
        "7",
        "x_tile",
        "ping_x",
        "last_product12",
        "ROWS",
        "é",
        "all_done",
    ]
    layers, tensors = layer_symbols(names, others=()), tensor_symbols(names, ["x_tile"])
    for found in (layers, tensors):
        assert found["/a/b"] == "a_b"
        assert found["a b"] == "a_b_2"
        assert found["7"] == "_7"
        assert len(set(found.values())) == len(names)
        assert not {"a0", "x_tile", "ping_x", "ROWS", "all_done"} & set(found.values())
        assert all(re.fullmatch(r"[A-Za-z_]\w*", symbol, re.ASCII) for symbol in found.values())
    assert tensor_symbols(["x", "y"], []) == {"x": "x", "y": "y"}
    assert not {"x", "y"} & set(layer_symbols(["x", "y"], others=()).values())


def test_symbols_are_names_of_files_on_any_system():
    """Symbols are file names on any system: none is a device's name, none differs only in case."""
    names = ["conv1", "Conv1", "CONV1", "Relu", "reLu", "main", "Main", "nul", "Aux", "COM1", "x_Y"]
    found = list(layer_symbols(names, ["main"]).values())
    assert found[:2] == ["conv1", "Conv1_2"]
    assert len({symbol.lower() for symbol in found}) == len(names)
    windows = {"main", "nul", "aux", "com1", "con", "prn"}
    assert not windows & {symbol.lower() for symbol in found}
    tensors = tensor_symbols(names, found).values()
    assert not {x.lower() for x in tensors} & {x.lower() for x in found}


def test_no_label_of_a_layer_may_be_a_symbol():
    """No label inside a layer can be the symbol of a layer, which would then be defined twice."""
    program = network_program(small_chain(5), load("tiny"))
    folder = [
        f"programs/lowered/{name}/{name}.s" for name in ("spmm", "conv2d", "depthwise", "spmv")
    ]
    texts = [item.source for item in program.sources.values()]
    texts += [Path(path).read_text("utf-8") for path in folder]
    words = {
        word
        for text in texts
        for pair in re.findall(r"^([A-Za-z_]\w*):|\.(?:list|seq|set) +([A-Za-z_]\w*)", text, re.M)
        for word in pair
        if word
    }
    labels = words - {item.symbol for item in program.plans}
    assert {"x_tile", "load", "setup", "tile"} <= labels
    assert not labels & set(layer_symbols(labels, others=()).values())


def test_a_layer_that_no_core_computes_is_refused_by_name():
    network = small_chain(6)
    other = replace(network, layers=(Layer("odd", ("image",), "block/0"), *network.layers[1:]))
    with pytest.raises(LowerError, match=r"^layer odd: no core computes a Layer$"):
        network_program(other, load("tiny"))


def test_a_layer_that_does_not_fit_is_refused_by_name():
    rng = np.random.default_rng(7)
    network = chain([random_convolution(rng, (4, 4, 9), 9, 1)])
    device = load("tiny").changed({"mem.unit_half_bytes": 1024, "pe.pes": 128})
    with pytest.raises(LowerError, match=r"^layer block/0: "):
        network_program(network, device)


def test_tiles_are_smaller_if_packets_need_the_room():
    config = load("tiny").changed({"mem.unit_half_bytes": 2 << 10})
    rng = np.random.default_rng(8)
    layers: list[Product] = [
        random_convolution(rng, (12, 12, 4), 4, 3, padding=1) for _ in range(4)
    ]
    network = chain(layers)
    plans = plan_layers(network, config)
    alone = [item.choice.selection.plan for item in plans if item.choice is not None]
    needed = sum(map(program_bytes, alone)) + max(unit_bytes(x) - program_bytes(x) for x in alone)
    assert needed > 2 << 10
    program = network_program(network, config)
    x = np.random.default_rng(9).integers(-128, 128, (12, 12, 4)).astype(np.int8)
    run = macaw.run(assembled(program), {"image": x})
    (name,) = network.outputs
    np.testing.assert_array_equal(
        run.outputs[program.symbols[name]], expected(network, config, x)[name]
    )


def test_packets_that_leave_no_room_are_refused():
    config = load("tiny").changed({"mem.unit_half_bytes": 2 << 10})
    with pytest.raises(LowerError) as caught:
        network_program(small_chain(8), config)
    assert re.fullmatch(
        r"the packets of all layers, [\d,]+ bytes, and the largest tile do not fit half of a unit,"
        r" 2,048 bytes",
        str(caught.value),
    )
    assert caught.value.hint == "a larger mem.unit_half_bytes"
