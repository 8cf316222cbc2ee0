"""Outlines of the texts that lowering writes: a line for each text, with its length and CRC-32.

Other tests check what the programs compute. Outlines show that a text has changed: longer, in
another order, with other names or comments. `python -m tests.lowering.outlines` compares with
tests/lowering/outlines.txt, `--text NAME` prints a text, and `--write` writes the file again;
examine the change first.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from pathlib import Path
from pprint import pformat
from zlib import crc32

import numpy as np
import onnx

import macaw
from macaw.isa.config import load
from macaw.lowering.candidates import plans
from macaw.lowering.choose import choose
from macaw.lowering.cost import cost
from macaw.lowering.layer_source import layer_source
from macaw.lowering.mapping import MAPPINGS
from tests.lowering.net.models import float_model, real_model, residual_model, small_model
from tests.lowering.nnp.models import MODELS, perceptron, recurrent
from tests.lowering.nnp.random_models import random_model
from tests.lowering.onnx.running import network_of
from tests.lowering.plan_costs import LAYERS, Layer

FILE = Path(__file__).with_suffix(".txt")
PROGRAMS = Path(__file__).parents[2] / "programs"
KINDS = ("array", "nnp", "onnx", "concord")
CHOSEN = ("product", "convolution with padding and a bias", "convolution 1 x 1 with a stride")
TINY = macaw.configuration("tiny")


def _array(layer: Layer, mapping: str, split: str) -> str:
    """The program of the cheapest plan of a mapping and split."""
    config = load("tiny").changed(layer.settings)
    product = layer.product.validated(config)
    size = int(config["pe.rows"]), int(config["pe.clusters"])
    found = plans(product, config, MAPPINGS[mapping], split, size, layer.density, inf, True)
    priced = [(cost(plan, layer.density).cycles, number, plan) for number, plan in enumerate(found)]
    return layer_source(min(priced)[2], "p", reasons=()).source if priced else ""


def _chosen(layer: Layer) -> str:
    """The program of the chosen plan, with the reasons."""
    config = load("tiny").changed(layer.settings)
    product = layer.product.validated(config)
    choice = choose(product, config, density=layer.density)
    return layer_source(choice.selection.plan, "p", choice.reasons()).source


def _nnp(make: Callable[[], onnx.ModelProto], **settings: int) -> str:
    """The source of a model on nnp."""
    changes = {f"nnp.{name}": value for name, value in settings.items()}
    network = macaw.compile(make(), device=TINY.changed(changes), core="nnp")
    used = " ".join(f"{name} {of}" for name, of in network.lowered.used.items())
    return f"{network.source}{network.lowered.instructions} instructions; {used}\n"


def texts() -> Iterator[tuple[str, Callable[[], str]]]:
    """The name of each text, and the function that makes it."""
    for layer in LAYERS:
        if layer.name in CHOSEN:
            yield f"array: {layer.name}", partial(_chosen, layer)
        for pair in layer.maps.split():
            yield f"array: {layer.name}, {pair}", partial(_array, layer, *pair.split("-"))
    for name, make in MODELS.items():
        yield f"nnp: {name}", partial(_nnp, make)
    yield "nnp: small files", partial(_nnp, partial(perceptron, 16, 16, 4), initial_vrf=6, mul_vrf=6, add_sub_vrf1=6, add_sub_vrf0=5)  # fmt: skip
    yield "nnp: groups", partial(_nnp, partial(perceptron, 16, 16, 16, 16, 4), matrix_rf=32)
    yield "nnp: long", partial(_nnp, partial(recurrent, "LSTM", 6, 1), add_sub_vrf0=64)
    for seed in range(40):
        yield f"nnp: random model {seed}", partial(_random_nnp, seed)
    for make in (residual_model, real_model, small_model, float_model):
        yield f"onnx: {make.__name__}", partial(_layers, make)
    for folder in sorted(PROGRAMS.glob("nnp_*/")):
        source = folder / f"{folder.name}.s"
        for target in ("numpy", "torch", "tensorflow", "onnx"):
            yield f"concord: {folder.name}, {target}", partial(_software, source, target)
        for kind in ("dot", "svg"):
            yield f"concord: {folder.name}, {kind}", partial(_picture, source, kind)


def _random_nnp(seed: int) -> str:
    """The source of a random model for nnp, or the text of the error."""
    made = random_model(np.random.default_rng(seed))
    try:
        return _nnp(lambda: made)
    except macaw.InputError as error:
        return f"{error}\n"


def _layers(make: Callable[[], onnx.ModelProto]) -> str:
    """The layers of a model, with all their numbers."""
    made = make()
    dims = {"batch": 2, "rows": 5} if make is float_model else {}
    return f"{pformat(network_of(made, dims=dims), width=120)}\n"


def _software(source: Path, target: str) -> str:
    return macaw.concord(source, target).text


def _picture(source: Path, kind: str) -> str:
    return macaw.concord(source).picture(kind)


def outline(name: str, text: str) -> str:
    """The line of a text in the file."""
    return f"{name}: {text.count(chr(10))} lines, {crc32(text.encode()):08x}"


def outlines(*kinds: str) -> list[str]:
    """The lines of all texts of these kinds; without `kinds`, of all texts."""
    return [
        outline(name, make())
        for name, make in texts()
        if not kinds or name.partition(":")[0] in kinds
    ]


def main() -> int:
    """Do what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.lowering.outlines", description=__doc__)
    parser.add_argument("--write", action="store_true", help="tests/lowering/outlines.txt")
    parser.add_argument("--text", metavar="NAME", help="print this text")
    given = parser.parse_args()
    if given.text:
        print(dict(texts())[given.text](), end="")
    elif given.write:
        FILE.write_text("\n".join([*outlines(), ""]), "utf-8")
    else:
        before = FILE.read_text("utf-8").splitlines()
        changed = [line for line in outlines() if line not in before]
        print("\n".join(changed) or "all texts are what they were")
        return bool(changed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
