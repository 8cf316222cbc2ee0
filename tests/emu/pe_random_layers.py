"""Random layers for a random row of the array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.emu.pe_builder import NAMES, SUMS, Machine, Unit, element_types


@dataclass(frozen=True)
class Layer:
    """A random row and a random layer for it."""

    config: dict[str, Any]
    inputs: int
    density: float  # of weights
    zeros: float  # of activations
    columns: int  # macs of the sequence: spmm
    parts: int  # exes that the inputs are split over
    balance: bool
    seed: int
    is_dense: bool = False  # the loading unit numbers the weights
    # Element types of weights and activations; none: the default.
    types: tuple[str, str] | None = None

    @property
    def operands(self) -> tuple[str, str]:
        """The element types of weights and activations."""
        element = str(self.config["pe.element"])
        return self.types or (element, element)

    @property
    def sums(self) -> str:
        """The NumPy type of the array's sums."""
        widest = str(self.config["pe.widest"])
        return SUMS[str(self.config["pe.element"]) if widest == "element" else widest]

    @property
    def pes(self) -> int:
        return int(self.config["pe.clusters"]) * int(self.config["pe.pes"])


@st.composite
def random_layers(draw: st.DrawFn) -> Layer:
    config = {
        "pe.clusters": draw(st.integers(1, 3)),
        "pe.pes": draw(st.integers(1, 5)),
        "pe.element": draw(st.sampled_from(sorted(NAMES))),
        "pe.design": draw(st.sampled_from(["5a", "5b", "5b"])),
        "pe.overflow": draw(st.sampled_from(["fault", "wrap", "saturate"])),
        "pe.load_queue_1": draw(st.integers(2, 9)),
        "pe.load_queue_2": draw(st.integers(1, 3)),
        "pe.balance_threshold": draw(st.integers(1, 4)),
        "pe.weight_queue": draw(st.sampled_from([61, 128])),
        "pe.input_buffer": draw(st.sampled_from([1024, 4096])),
        "dist.bus_bytes": draw(st.sampled_from([1, 5, 32, 64])),
        "mem.banks": draw(st.sampled_from([1, 16])),
    }
    family = ["int8", "int16"] if str(config["pe.element"]).startswith("int") else ["fp16", "fp32"]
    config["pe.widest"] = draw(st.sampled_from(["element", family[1]]))
    narrow = config["pe.element"] == family[0] and config["pe.widest"] == "element"
    some = st.sampled_from(family[:1] if narrow else family)
    return Layer(
        config,
        types=draw(st.none() | st.tuples(some, some)),
        inputs=draw(st.integers(1, 60)),
        density=draw(st.floats(0, 1)),
        zeros=draw(st.floats(0, 1)),
        columns=draw(st.integers(1, 4)),
        parts=draw(st.integers(1, 3)),
        balance=config["pe.design"] == "5b" and draw(st.booleans()),
        seed=draw(st.integers(0, 2**32 - 1)),
        is_dense=draw(st.booleans()),
    )


def random_elements(
    rng: np.random.Generator, element: str, shape: tuple[int, ...], zeros: float
) -> NDArray[Any]:
    """Random elements; `zeros` of them (a fraction) are zero."""
    if element.startswith("fp"):
        found = rng.normal(0, 3, shape).astype(NAMES[element])
    else:
        ends = np.iinfo(NAMES[element])
        found = rng.integers(ends.min, ends.max, shape, endpoint=True).astype(NAMES[element])
    found[rng.random(shape) < zeros] = 0
    return found


@dataclass
class BuiltLayer:
    """The program of a layer, its operands by exe, and the out record of its results."""

    machine: Machine
    out: dict[str, int]
    weights: list[NDArray[Any]]  # by part: (PEs, inputs of the part)
    x: list[NDArray[Any]]  # by part: (columns, inputs of the part)


def build_layer(layer: Layer) -> BuiltLayer:
    """Build a layer with a run for each part of the inputs; the last run stores the sums."""
    rng = np.random.default_rng(layer.seed)
    element, x_element = layer.operands
    types = None if layer.types is None else element_types(*layer.types)
    unit = Unit(layer.config, data_at=0x1000)
    loads = [f"ld activations base={3 * a}" for a in range(layer.columns)]
    flag = " balance" if layer.balance else ""
    macs = [f"mac base={3 * a} acc={a}{flag}" for a in range(layer.columns)]
    stores = [f"st base={a}" for a in range(layer.columns)]
    # Two buffers in turn, so that loads of a part overlap the macs of the one before.
    for ib in (7, 3):
        unit.config_packet(ib, *loads, "ld weights", *macs, *stores, types=types)
    out = unit.out(8 * layer.pes * layer.columns, layer.sums.replace("float", "fp"), count=1)
    out |= {"stride": 8, "step": 8 * layer.pes}
    built = BuiltLayer(unit.machine(), out, [], [])
    for part in range(layer.parts):
        weights = random_elements(rng, element, (layer.pes, layer.inputs), 1 - layer.density)
        x = random_elements(rng, x_element, (layer.columns, layer.inputs), layer.zeros)
        built.weights.append(weights)
        built.x.append(x)
        segments = [unit.dense(column, element=x_element) for column in x]
        last = int(part == layer.parts - 1)
        segments.append(
            (unit.numbered if layer.is_dense else unit.weights)(weights, element=element)
        )
        unit.exe((7, 3)[part % 2], *segments, out=out, last=last)
    built.machine = unit.machine()
    return built
