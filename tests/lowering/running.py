"""Runs plans in the emulator."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

import macaw
from macaw.isa.config import Configuration
from macaw.lowering import candidates, choose
from macaw.lowering.layer_source import SourceFiles, layer_source
from macaw.lowering.mapping import MAPPINGS
from macaw.lowering.operation import Elements, Product
from macaw.lowering.partition import SPLITS
from macaw.lowering.plan import ProductPlan, Tile
from macaw.lowering.weight_stationary import make_product_plan

SPLITS_TO_COMPARE = "bdfi"  # of nine; with f and i, clusters add sums
TILES_TO_COMPARE = 2  # of a mapping and a split; usually they are six
INTEGERS = st.sampled_from(["int8", "int16"])


def compare_few_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lowering compare only few plans of a layer, as the fixture `few_plans` does."""
    few = {letter: SPLITS[letter] for letter in SPLITS_TO_COMPARE}
    monkeypatch.setattr(choose, "SPLITS", few)
    monkeypatch.setattr(candidates, "TRIES", TILES_TO_COMPARE)


def made(program: SourceFiles, name: str = "p") -> Any:
    """Assemble a program in a new folder; fail on a warning."""
    with tempfile.TemporaryDirectory() as folder:
        for file, array in program.files.items():
            np.save(Path(folder) / file, array)
        for file, text in program.texts.items():
            (Path(folder) / file).write_text(text)
        source = Path(folder) / f"{name}.s"
        source.write_text(program.source)
        found = macaw.assemble(source)
    assert not found.warnings
    return found


def run(
    product: Product,
    config: Configuration,
    mapping: str,
    split: str,
    tile: Tile,
    x: NDArray[Any],
    *,
    whole: bool = False,
) -> tuple[ProductPlan, Any]:
    """The plan and the run of its program; `whole`: with all activations of a tile at once."""
    checked, kind = product.validated(config), MAPPINGS[mapping]
    plan = make_product_plan(checked, config, kind, split, tile, whole, part=None)
    return plan, macaw.run(made(layer_source(plan, "p", reasons=())), x=x)


@st.composite
def element_types(draw: st.DrawFn) -> tuple[dict[str, str], Elements]:
    """Draw settings of a device, and types of activations, weights and results.

    Half of all operations compute in pe.element only.
    """
    element = draw(INTEGERS)
    if draw(st.booleans()):
        return {"pe.element": element}, Elements(element, element, element)
    settings = {"pe.element": element, "pe.widest": "int16"}
    return settings, Elements(draw(INTEGERS), draw(INTEGERS), draw(INTEGERS))
