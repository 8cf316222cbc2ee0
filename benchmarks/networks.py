"""Whole networks on the device: exact in each layer, cycles against the bound, and times.

    python -m benchmarks.networks text-direction [--images 3]
    python -m benchmarks.networks text-recognition      # text-detection, magika
    python -m benchmarks.networks NAME [--zeros 0.8] [--run]   # a light network: resnet50 ...
    python -m benchmarks.networks light [--run]
    python -m benchmarks.networks pruning [--run] [--networks squeezenet,text-direction]
                                           [--json docs/pruning.json]
    python -m benchmarks.networks weights-ahead [--networks squeezenet,text-direction]

The light networks (of the package onnx) get random weights from a seed; `--zeros` is the share of
them that is zero. Without `--run`, cycles are predicted. Exit status 1: a tensor differs from the
reference evaluator, or an output of text-recognition or magika from onnxruntime's by more than
1e-5. `--json` writes what `pruning` measured, from which docs/pruning.py draws docs/pruning.svg.
`weights-ahead` predicts how much could be saved if the first weights of each layer were fetched
while the layer before it computes.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

import macaw
from benchmarks.models import LIGHT, UnavailableError, fetched
from macaw import files
from macaw.isa.config import Configuration, load
from macaw.lowering.net.layer_plans import fitting_plans
from macaw.lowering.plan import ProductPlan
from macaw.lowering.transfers import weight_transfers

HEAD = (
    "| network | layers | equal | cycles | times the bound | compiled, s | run, s | lines | MiB |"
)
SEED = 20
SHARES = (0.0, 0.25, 0.5, 0.75, 0.9)  # of weights that are zero
# Networks of packages, with the shapes of their inputs: images of random numbers, or bytes.
REAL = {"text-detection": (3, 96, 160), "text-recognition": (3, 48, 96), "magika": (2048,)}
MODES = ("text-direction", "light", "pruning", "weights-ahead")
_CLOSE = {"text-recognition": 1e-5, "magika": 1e-5}  # tolerances
# bytes of external memory for networks that need more than a device has
_EXTERNAL = {"vgg19": 512 << 20, "zfnet512": 512 << 20}
_BYTES = 257  # magika's input: a byte, or 256 after the end of the file
_FACTORS = {1: 1.0, 2: 0.1, 3: 0.0, 4: 1.0}  # by BatchNormalization's input; 1.0: ones, else random


@dataclass(frozen=True)
class Case:
    """A network with real numbers, and samples of its input, shape (samples, ...).

    `tolerance` is the greatest allowed difference of an output from onnxruntime's.
    """

    name: str
    model: onnx.ModelProto
    samples: NDArray[Any]
    tolerance: float = np.inf  # largest difference of outputs from those of onnxruntime


def light(name: str, zeros: float) -> Case:
    """Return a light network with random weights in place of its constants."""
    model = onnx.load(fetched(name))
    rng = np.random.default_rng(SEED)
    given = {item.name: item for item in model.graph.initializer}
    shapes = {
        node.output[0]: tuple(int(x) for x in numpy_helper.to_array(given[node.input[0]]))
        for node in model.graph.node
        if node.op_type == "ConstantOfShape"
    }
    nodes = [node for node in model.graph.node if node.op_type != "ConstantOfShape"]
    arrays = {key: np.zeros(shape) for key, shape in shapes.items()}
    for node in nodes:
        for place, key in enumerate(node.input):
            if place and key in shapes:
                arrays[key] = _numbers(node.op_type, place, shapes[key], zeros, rng)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    used = {key for node in nodes for key in node.input}
    constants = [item for item in model.graph.initializer if item.name in used]
    constants += [
        numpy_helper.from_array(array.astype(np.float32), key) for key, array in arrays.items()
    ]
    del model.graph.initializer[:]
    model.graph.initializer.extend(constants)
    names = {item.name for item in constants}
    inputs = [x for x in model.graph.input if x.name in used - names]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    model.ir_version = 8  # from here on, constants need not be inputs
    shape = [axis.dim_value for axis in inputs[0].type.tensor_type.shape.dim]
    samples = rng.normal(size=(2, *shape[1:])).astype(np.float32)
    return Case(name, model, samples)


def _numbers(
    operator: str, place: int, shape: tuple[int, ...], zeros: float, rng: np.random.Generator
) -> NDArray[Any]:
    """Return random numbers for input number `place` of a node, in this shape.

    The numbers are of a size for which a layer's outputs are about as large as its inputs. `zeros`
    is the share of weights that are zero.
    """
    if operator == "BatchNormalization":
        factor = _FACTORS[place]
        return np.ones(shape) if factor == 1.0 else factor * rng.normal(size=shape)
    if len(shape) == 1:
        return 0.05 * rng.normal(size=shape)
    weights = rng.normal(size=shape) * np.sqrt(2 / np.prod(shape[1:]))
    weights[rng.random(shape) < zeros] = 0
    return np.asarray(weights / np.sqrt(1 - zeros))


def text_direction(count: int, zeros: float = 0.0) -> Case:
    """Return the network that tells a text's direction, and `count` images.

    The share `zeros` of the network's weights is pruned.
    """
    try:
        from benchmarks.text_images import images
    except ImportError:
        raise UnavailableError("text-direction needs Pillow: pip install pillow") from None

    model = onnx.load(fetched("text-direction"))
    constants = [x.attribute[0].t for x in model.graph.node if x.op_type == "Constant"]
    for item in (*model.graph.initializer, *constants):
        array = numpy_helper.to_array(item)
        if array.ndim >= 2 and zeros:
            least = np.quantile(np.abs(array), zeros)
            item.CopyFrom(numpy_helper.from_array(array * (np.abs(array) > least), item.name))
    data, _ = images(count + 8, SEED)
    return Case("text direction", model, data)


def real(name: str, count: int) -> Case:
    """Return a network of a package with random inputs from a seed.

    It has `count` samples, and three more for the calibration.
    """
    rng, shape = np.random.default_rng(SEED), (count + 3, *REAL[name])
    numbers = rng.integers(0, _BYTES, shape) if name == "magika" else rng.normal(size=shape)
    dtype = np.int32 if name == "magika" else np.float32
    model, tolerance = onnx.load(fetched(name)), _CLOSE.get(name, np.inf)
    return Case(name.replace("-", " "), model, numbers.astype(dtype), tolerance)


def difference(network: macaw.CompiledNetwork, run: macaw.NetworkRun, inputs: Any) -> float:
    """Return the largest difference of a run's outputs from those that onnxruntime computes."""
    import onnxruntime

    wanted = onnxruntime.InferenceSession(network.model).run(None, inputs)
    pairs = zip(run.outputs.values(), wanted, strict=True)
    return max(float(np.abs(one - other).max()) for one, other in pairs)


@dataclass(frozen=True)
class Measured:
    """A row of the table, whether all layers are right, and the cycles of the last image.

    `layers` has the name, the cycles and the array's utilisation of each layer; it is empty if the
    network was not run.
    """

    row: str
    right: bool
    cycles: int
    layers: tuple[tuple[str, int, float], ...] = ()


def device_of(case: Case, name: str) -> Configuration:
    """Return the preset `name`, with the external memory that the network of a case needs."""
    device = load(name)
    return (
        device.changed({"mem.external_bytes": _EXTERNAL[case.name]})
        if case.name in _EXTERNAL
        else device
    )


def compiled(case: Case, count: int, device: str) -> tuple[macaw.CompiledNetwork, float]:
    """Return the compiled network, and the seconds that the compilation took.

    The samples after the first `count` calibrate the quantisation.
    """
    first = case.model.graph.input[0]
    axes = [axis.dim_param for axis in first.type.tensor_type.shape.dim]
    sizes = dict(zip(axes, (1, *case.samples.shape[1:]), strict=True))
    sizes.pop("", None)
    quantised = macaw.quantise(case.model, case.samples[count:], dims=sizes or None)
    start = time.perf_counter()
    network = macaw.compile(quantised.model, device=device_of(case, device), name=case.name)
    return network, time.perf_counter() - start


def measured(case: Case, count: int, device: str, *, emulate: bool) -> Measured:
    """Compile a network, run `count` images if `emulate`, and return the measured row."""
    first = case.model.graph.input[0]
    network, seconds_of_compile = compiled(case, count, device)
    with tempfile.TemporaryDirectory() as folder:
        network.write(Path(folder) / "net")
        files = [x for x in (Path(folder) / "net").iterdir() if x.suffix in (".s", ".inc")]
        lines = sum(len(x.read_text("utf-8").splitlines()) for x in files)
        cycles, seconds, words = sum(x.predicted for x in network.layers), "", "not run"
        right, layers = True, tuple[tuple[str, int, float], ...]()
        if emulate:
            start = time.perf_counter()
            runs = [network.run({first.name: x[None]}) for x in case.samples[:count]]
            seconds = f"{(time.perf_counter() - start) / count:.1f}"
            equal = min(sum(x.equal for x in run.layers) for run in runs)
            cycles, words = runs[-1].cycles, f"{equal} of {len(runs[-1].layers)}"
            right = equal == len(runs[-1].layers)
            print(f"{case.name}: {_shares(runs[-1])}")
            layers = tuple(
                (x.report.name, x.cycles, round(x.utilisation, 4)) for x in runs[-1].layers
            )
            if case.tolerance < np.inf:
                inputs = {first.name: case.samples[count - 1][None]}
                apart = difference(network, runs[-1], inputs)
                print(f"{case.name}: differs from onnxruntime by at most {apart:.2g}")
                right = right and apart <= case.tolerance
    bound = sum(x.bound for x in network.layers)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    row = (
        f"| {case.name} | {len(network.layers)} | {words} | {cycles:,} | {cycles / bound:.2f}"
        f" | {seconds_of_compile:.1f} | {seconds} | {lines:,} | {memory:,} |"
    )
    return Measured(row, right, cycles, layers)


def _shares(run: macaw.NetworkRun) -> str:
    """Return as text how long cores were idle, and in which layers array, vc and cp all worked."""
    idle = ", ".join(f"{name} {1 - share:.0%}" for name, share in run.busy.items())
    together = [
        x.report.name for x in run.layers if min(x.busy[name] for name in ("pe", "vc", "cp")) > 0.01
    ]
    return f"idle: {idle}; array, vc and cp work at once in: {', '.join(together) or 'no layer'}"


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=(*MODES, *REAL, *LIGHT))
    parser.add_argument("--images", type=int, default=1)
    parser.add_argument("--zeros", type=float, default=0.0)
    parser.add_argument("--networks", default="squeezenet,text-direction")
    parser.add_argument("--device", default="base")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    if chosen.what == "pruning":
        return _pruning(chosen)
    if chosen.what == "weights-ahead":
        return _weights_ahead(chosen)
    if chosen.what == "text-direction":
        cases, emulate = [text_direction(chosen.images)], True
    elif chosen.what in REAL:
        cases, emulate = [real(chosen.what, chosen.images)], True
    else:
        names = LIGHT if chosen.what == "light" else [chosen.what]
        cases, emulate = [light(name, chosen.zeros) for name in names], chosen.run
    print(HEAD)
    status = 0
    for case in cases:
        try:
            found = measured(case, chosen.images, chosen.device, emulate=emulate)
            row, right = found.row, found.right
        except macaw.MacawError as error:
            row, right = f"| {case.name} | refused: {error} |", True
        print(row, flush=True)
        status |= not right
    return status


def _pruning(chosen: argparse.Namespace) -> int:
    """Print the cycles of networks by their share of zero weights, and record them.

    Return the exit status.
    """
    print("| network | zeros | cycles | times faster |")
    status, rows = 0, []
    for name in chosen.networks.split(","):
        dense = 0
        for zeros in SHARES:
            case = text_direction(1, zeros) if name == "text-direction" else light(name, zeros)
            found = measured(case, 1, chosen.device, emulate=chosen.run)
            dense = dense or found.cycles
            speed = dense / found.cycles
            print(f"| {name} | {zeros:.0%} | {found.cycles:,} | {speed:.2f} |", flush=True)
            status |= not found.right
            row = {"network": case.name, "zeros": zeros, "cycles": found.cycles}
            rows.append(json.dumps(row | {"equal": found.right, "layers": found.layers}))
            if chosen.json:
                files.write_bytes(chosen.json, ("[\n" + ",\n".join(rows) + "\n]\n").encode())
    return status


def _weights_ahead(chosen: argparse.Namespace) -> int:
    """Print the cycles in which each network's layers wait for their first weights.

    Return the exit status.
    """
    print("| network | cycles predicted | of them first weights | share |")
    for name in chosen.networks.split(","):
        case = text_direction(1) if name == "text-direction" else light(name, chosen.zeros)
        network, _ = compiled(case, 1, chosen.device)
        plans, _ = fitting_plans(network.assignment.network, network.config)
        waits = sum(
            first_weights(item.choice.selection.plan)
            for item in plans[1:]
            if item.choice is not None
        )
        total = sum(x.predicted for x in network.layers)
        print(f"| {case.name} | {total:,} | {waits:,} | {waits / total:.1%} |", flush=True)
    return 0


def first_weights(plan: ProductPlan) -> int:
    """Return the cycles of the transfers of a plan's first tiles of weights (docs/memory.md)."""
    config = plan.config
    start = config["dma.setup"] + config["mem.external_latency"] + config["mem.onchip_latency"]
    width = min(config["dma.width"], config["mem.external_width"])
    beats = int(plan.weight_bytes[0, 0].sum()) / width
    return round((weight_transfers(plan) * (start + 1) + beats) * config["dma.divider"])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UnavailableError as error:
        sys.exit(str(error))
