"""digits_cnn.s computes every layer as reference.py does, and its queues work as intended."""

import json
import re
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import macaw
from tests.programs.scripts import PROGRAMS, script

FOLDER = PROGRAMS / "digits_cnn"
UNIT = 1 << 20
ROWS, GROUPS, CLUSTERS, PAIR, RUN = 2, 4, 5, 2, 80


@pytest.fixture(scope="module")
def reference() -> Any:
    before = sys.modules.get("reference")
    yield script("digits_cnn/reference.py", "reference")
    del sys.modules["reference"]
    if before is not None:
        sys.modules["reference"] = before


@pytest.fixture(scope="module")
def images(reference: ModuleType) -> NDArray[np.int8]:
    """The last eighty test images; the golden test runs the first eighty."""
    found: NDArray[np.int8] = reference.load_test_set()[0][-RUN:]
    return found


@pytest.fixture(scope="module")
def run(images: NDArray[np.int8]) -> Any:
    program = macaw.assemble(FOLDER / "digits_cnn.s")
    assert not program.warnings
    return program, macaw.run(program, x=images[..., 0])


def _in_units(run: Any, name: str, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """The int8 arrays of this name in the memory parts of all rows, stacked to (rows, ...)."""
    program, done = run
    address = program.symbol(name).value
    data = [
        done.device.memory.peek(address + row * UNIT, int(np.prod(shape))) for row in range(ROWS)
    ]
    return np.frombuffer(b"".join(data), np.int8).reshape(ROWS, *shape)


def test_parameters_are_arranged(reference: ModuleType) -> None:
    arrange = script("digits_cnn/arrange.py", "arrange")
    del sys.modules["arrange"]
    wanted = arrange.arranged(reference.load())
    assert {path.stem for path in (FOLDER / "arranged").iterdir()} == set(wanted)
    for name, array in wanted.items():
        found = np.load(FOLDER / "arranged" / f"{name}.npy", allow_pickle=False)
        assert found.dtype == array.dtype
        assert np.array_equal(found, array), f"{name}: run programs/digits_cnn/arrange.py"


def test_shifts_are_those_of_the_network(reference: ModuleType) -> None:
    text = (FOLDER / "digits_cnn.s").read_text("utf-8")
    names = ("conv_even", "depthwise", "pointwise")
    for name, layer in zip(names, reference.load(), strict=False):
        line = next(line for line in text.splitlines() if f".seq    {name}," in line)
        assert f"shift={layer.shift}" in line


@pytest.mark.long
def test_every_layer_is_the_reference(
    reference: ModuleType, run: Any, images: NDArray[np.int8]
) -> None:
    """All logits equal the reference's, and so do the maps that a run leaves in memory.

    These are all inner maps, and the convolution's maps for the last group of images.
    """
    conv, depthwise, pointwise, logits = reference.outputs(images)
    assert np.array_equal(run[1].outputs["y"], logits)
    # Images of a row: (group, cluster, image of the pair).
    order = (ROWS, GROUPS, CLUSTERS, PAIR)

    maps = _in_units(run, "maps", (GROUPS, CLUSTERS, PAIR, 8, 4, 4))
    assert np.array_equal(maps, depthwise.reshape(*order, 4, 4, 8).transpose(0, 1, 2, 3, 6, 4, 5))

    features = _in_units(run, "features", (CLUSTERS, 16, GROUPS, PAIR, 4, 4))
    wanted = pointwise.reshape(*order, 4, 4, 16).transpose(0, 2, 6, 1, 3, 4, 5)
    assert np.array_equal(features, wanted)

    strips = _in_units(run, "strips", (CLUSTERS, PAIR, 8, 4, 9, 3))  # strip, column, row below
    framed = np.pad(conv.reshape(*order, 8, 8, 8)[:, -1], ((0, 0),) * 3 + ((1, 0), (1, 0), (0, 0)))
    below = np.stack([framed[:, :, :, 2 * r : 2 * r + 3] for r in range(4)], axis=3)
    assert np.array_equal(strips, below.transpose(0, 1, 2, 6, 3, 5, 4))


@pytest.mark.long
def test_weights_rotate_and_windows_slide(
    reference: ModuleType, run: Any, images: NDArray[np.int8]
) -> None:
    """The numbers of weights that PEs examine and of MACs equal a calculation by hand.

    Rotation: the bus brings a layer's weights once for each exe; each output position examines them
    again. Sliding window: 16 windows of 9 entries come out of four strips of 27 entries, so a PE
    sees 36 entries twice. The PEs skip only the products with zeros of the kernel.
    """
    conv, depthwise, pointwise, dense = reference.load()
    nonzero = [np.count_nonzero(layer.weights) for layer in (conv, depthwise, pointwise, dense)]
    examined = 64 * nonzero[0] + 16 * 9 * 8 + 16 * nonzero[2] + nonzero[3]
    effectual = reference.effectual_macs(reference.load(), images)
    done = sum(effectual) - effectual[1] + RUN * 16 * nonzero[1]
    rows = [run[1].counters[f"pe[{row}]"] for row in range(ROWS)]
    assert sum(row["weights_examined"] for row in rows) == RUN * examined
    assert sum(row["macs"] for row in rows) == done

    # A record: a count of two bytes, then three an entry. Eight PEs' kernels are the other eight's.
    records = 2 * 16
    weights = 2 * GROUPS * (records + 3 * 2 * nonzero[0])
    weights += GROUPS * 16 * CLUSTERS * 4 * 27
    weights += 2 * records + 3 * (nonzero[2] + nonzero[3])
    slabs = 2 * GROUPS * 4 * CLUSTERS * 200
    inner = GROUPS * (16 * 9) + GROUPS * 16 * CLUSTERS * 16 + CLUSTERS * 16 * 128
    sums = 2 * GROUPS * 256 + GROUPS * 64 + 256 + 64
    exes = 2 * GROUPS + 11 * GROUPS + GROUPS + 2
    text = (FOLDER / "digits_cnn.s").read_text("utf-8")
    names = [name for name in re.findall(r"^ *\.seq +(\w+)", text, re.M) if name != "store"]
    names += [f"store{k}" for k in range(8)]
    sequences = sum(run[0].symbol(name).size for name in names)
    commands = exes + len(names)
    for row in rows:
        assert row["packets"] == commands
        assert row["bus_bytes"] == commands + sequences + weights + slabs + inner + sums


def test_sequences_are_in_the_states_of_the_seed() -> None:
    """The depthwise sequence slides its window (state sw); other convolutions rotate weights (rq).

    See seed 000 ¶112-113, ¶122-123.
    """
    text = (FOLDER / "digits_cnn.s").read_text("utf-8")
    heads = [line.split(".seq")[1] for line in text.splitlines() if line.strip().startswith(".seq")]
    states = {
        head.split(",")[0].strip(): head.split("state=")[1].split(",")[0]
        for head in heads
        if "pipeline=4" in head
    }
    assert states == {
        "conv_even": "rq",
        "conv_odd": "rq",
        "depthwise": "sw",
        "pointwise": "rq",
        "dense": "rq",
    }


def test_figures_of_the_readme(reference: ModuleType) -> None:
    """The figures of the README that need no run of all 400 images are right."""
    text = (FOLDER / "README.md").read_text("utf-8")
    record = json.loads((FOLDER / "expected" / "run.json").read_text("utf-8"))
    assert f"{record['cycles']:,} for the first eighty" in text
    images, labels = reference.load_test_set()
    network = reference.load()
    assert f"| accuracy | {reference.accuracy(images, labels):.2%} (" in text
    effectual = reference.effectual_macs(network, images)
    nonzero = [np.count_nonzero(layer.weights) for layer in network]
    done = [effectual[0], len(images) * 16 * nonzero[1], *effectual[2:]]
    for name, values in (
        ("weights", [layer.weights.size for layer in network]),
        ("non-zero", nonzero),
        ("products with both factors nonzero", effectual),
        ("products that the array computes", done),
    ):
        assert f"| {name} | {' | '.join(map(str, (*values, sum(values))))} |" in text
    assert f" | {reference.dense_macs(network, images)} |" in text
