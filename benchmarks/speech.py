"""silero-vad, which finds speech in sound: on vc and nnp, on the array, vc and nnp, or on islands.

    python -m benchmarks.speech [--seconds 60] [--every 100] [--type TYPE]

A seeded script makes the sound: noise, tones, and bursts with a pitch and formants. Convolutions
run on vc in binary32, or with `--type` on the array in integers, and the LSTM runs on nnp. With
`--type fp16` or `fp32` islands compute everything; for fp32 the device has five islands, because
only the fifth one has divisions in fp32. The state goes from chunk to chunk. The reference
evaluator computes all chunks. The emulator runs one chunk in `--every`, from the evaluator's state,
and each of its tensors is compared with the evaluator's. The decisions (a probability above 0.5)
are compared with those of onnxruntime.

Exit status 1: a tensor differs, or in binary32 (float, fp32) a decision.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

import macaw
from benchmarks.models import fetched
from macaw.isa.config import load
from macaw.isa.fim_circuit import FORMAT_NAMES, FORMATS
from tests.lowering.fim.running import modelled

RATE = 16_000  # samples a second
CHUNK, CONTEXT = 512, 64  # samples of a chunk; those before it, which the network reads, too
SIZES = {"batch": 1, "sequence": CONTEXT + CHUNK}
THRESHOLD = 0.5
_CALIBRATION = (60, 99, 4)  # seconds and seed of the sound, and the distance of samples in chunks
Array = NDArray[np.float32]
Step = Callable[[Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Decisions:
    """The probability of speech in each chunk of a sound, with the network's inputs.

    These are the chunk and the state before the chunk.
    """

    probabilities: NDArray[np.float64]
    chunks: list[Array]
    states: list[Array]

    def different(self, other: Decisions) -> int:
        """Return the number of chunks for which the decisions differ."""
        pairs = self.probabilities > THRESHOLD, other.probabilities > THRESHOLD
        return int(np.count_nonzero(pairs[0] != pairs[1]))


def sound(seconds: int, seed: int = 0) -> Array:
    """Return `seconds` seconds of sound at 16 kHz: noise, tones and bursts like speech.

    Each of these takes 0.3 to 1.5 s.
    """
    random = np.random.default_rng(seed)
    parts: list[NDArray[np.float64]] = []
    while sum(map(len, parts)) < seconds * RATE:
        times = np.arange(int(random.uniform(0.3, 1.5) * RATE)) / RATE
        kind = random.integers(4)
        if kind == 0:
            parts.append(random.normal(size=len(times)) * 10 ** random.uniform(-3, -1))
        elif kind == 1:
            parts.append(0.3 * np.sin(2 * np.pi * random.uniform(100, 3000) * times))
        else:
            parts.append(_burst(times, random))
    return np.concatenate(parts)[: seconds * RATE].astype(np.float32)


def _burst(times: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.float64]:
    """Return a voice at `times`: harmonics of a pitch that moves, three formants, and syllables."""
    vibrato = 1 + 0.1 * np.sin(2 * np.pi * random.uniform(1, 4) * times)
    pitch = random.uniform(90, 220) * vibrato
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    ranges = ((300, 800, 80), (900, 2200, 120), (2300, 3200, 160))
    formants = [(random.uniform(low, high), width) for low, high, width in ranges]
    voice = np.zeros(len(times))
    for harmonic in range(1, 30):
        place = harmonic * pitch.mean()
        weight = sum(np.exp(-(((place - at) / (2 * width)) ** 2)) for at, width in formants)
        voice += (0.02 + weight) * np.sin(harmonic * phase)
    syllables = np.sin(np.pi * np.clip((times * random.uniform(3, 6)) % 1 * 1.3, 0, 1))
    noise = random.normal(size=len(times)) * 1e-3
    return 0.4 * voice * syllables / np.abs(voice).max() + noise


def chunks(samples: Array) -> Iterator[Array]:
    """Yield the network's inputs (1, 576): each chunk with the samples before it."""
    padded = np.concatenate([np.zeros(CONTEXT, np.float32), samples])
    for start in range(0, len(samples) - CHUNK + 1, CHUNK):
        yield padded[None, start : start + CONTEXT + CHUNK]


def decide(samples: Array, step: Step) -> Decisions:
    """Return the decisions for all chunks of a sound.

    `step` computes a probability and the next state from a chunk and a state.
    """
    state = np.zeros((2, 1, 128), np.float32)
    probabilities, inputs, states = [], [], []
    for chunk in chunks(samples):
        inputs.append(chunk)
        states.append(state)
        probability, state = step(chunk, state)
        probabilities.append(float(probability.item()))
    return Decisions(np.array(probabilities), inputs, states)


def runtime_step(model: onnx.ModelProto) -> Step:
    """Return a step that onnxruntime computes."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model.SerializeToString())
    rate = {"sr": np.array(RATE, np.int64)}

    def step(chunk: Array, state: Array) -> tuple[Array, Array]:
        probability, after = session.run(None, {"input": chunk, "state": state, **rate})
        return probability, after

    return step


def compiled(model: onnx.ModelProto, kind: str) -> macaw.CompiledNetwork:
    """Return the network for a device whose nnp has binary32 between its chains."""
    settings: dict[str, Any] = {"nnp.host_format": "fp32"}
    if kind == "float":
        device = load("base").changed(settings)
        return macaw.compile(
            model, device=device, dims=SIZES, constants={"sr": RATE}, name="silero_vad"
        )
    seconds, seed, every = _CALIBRATION
    heard = decide(sound(seconds, seed), runtime_step(model))
    data = {"input": np.stack(heard.chunks[::every]), "state": np.stack(heard.states[::every])}
    quantised = macaw.quantise(
        model, data, dims=SIZES, constants={"sr": RATE}, element_type=kind, per_channel=True,
        scales="real",
    )  # fmt: skip
    device = load("base").changed({**settings, "pe.element": kind})
    return macaw.compile(quantised.model, device=device, name="silero_vad")


@dataclass(frozen=True)
class Chunk:
    """An emulated chunk: its probability, the number of wrong tensors, and the cycles.

    A tensor is wrong if it differs from the tensor that is computed without emulation.
    """

    probability: float
    wrong: int
    cycles: int


@dataclass(frozen=True)
class Machine:
    """A compiled network on certain cores, with its predicted cycles.

    `step` computes a chunk without emulation, with the same roundings; `emulate` emulates a chunk.
    """

    step: Step
    emulate: Callable[[Array, Array], Chunk]
    cores: list[str]
    predicted: int


def network_machine(model: onnx.ModelProto, kind: str) -> Machine:
    """Return the network on the cores that `macaw compile` chooses.

    `kind` is the type of the convolutions, as for `compiled`.
    """
    network = compiled(model, kind)

    def step(chunk: Array, state: Array) -> tuple[Array, Array]:
        outputs = network.evaluate({"input": chunk, "state": state})
        return outputs["output"], outputs["stateN"]

    def emulate(chunk: Array, state: Array) -> Chunk:
        run = network.run(input=chunk, state=state)
        wrong = sum(not layer.equal for layer in run.layers)
        return Chunk(float(run.outputs["output"][0, 0]), wrong, run.cycles)

    cores = sorted({layer.core for layer in network.layers})
    return Machine(step, emulate, cores, sum(layer.predicted for layer in network.layers))


def island_machine(model: onnx.ModelProto, kind: str) -> Machine:
    """Return the network on islands, which compute in the format `kind`: fp16 or fp32.

    The step without emulation rounds sums in the order in which the islands of the plan add.
    """
    dtype = FORMATS[FORMAT_NAMES.index(kind)].dtype
    device = load("base").changed({"fim.islands": 4 if kind == "fp16" else 5})
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    (rate,) = (row for row in fixed.graph.input if row.name == "sr")
    fixed.graph.input.remove(rate)
    fixed.graph.initializer.append(onnx.numpy_helper.from_array(np.array(RATE, np.int64), "sr"))
    found = macaw.lower_graph(fixed, dims=SIZES, device=device, number_format=kind)
    program = found.assemble()
    output, after = (tensor.name for tensor in found.graph.results)

    def rounded(chunk: Array, state: Array) -> dict[str, NDArray[Any]]:
        return {"input": chunk.astype(dtype), "state": state.astype(dtype)}

    def step(chunk: Array, state: Array) -> tuple[Array, Array]:
        values = modelled(found.plan, found.graph, rounded(chunk, state))
        return values[output], values[after].reshape(state.shape)

    def emulate(chunk: Array, state: Array) -> Chunk:
        inputs = rounded(chunk, state)
        run = macaw.run(program, inputs)
        values = modelled(found.plan, found.graph, inputs)
        wrong = sum(not np.array_equal(run.outputs[name], row) for name, row in values.items())
        return Chunk(float(run.outputs[output].item()), wrong, run.cycles)

    return Machine(step, emulate, ["islands"], found.cycles)


def main() -> int:
    """Print the comparison; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument(
        "--type", choices=("float", "int16", "int8", *FORMAT_NAMES), default="float"
    )
    options = parser.parse_args()
    model = onnx.load(fetched("silero-vad-16k"))
    samples = sound(options.seconds)
    expected = decide(samples, runtime_step(model))
    on_islands = options.type in FORMAT_NAMES
    machine = (island_machine if on_islands else network_machine)(model, options.type)
    began = time.perf_counter()
    result = decide(samples, machine.step)
    seconds = time.perf_counter() - began
    wrong, cycles, emulated = 0, [], range(0, len(result.chunks), options.every)
    for number in emulated:
        chunk = machine.emulate(result.chunks[number], result.states[number])
        wrong += chunk.wrong + (chunk.probability != result.probabilities[number])
        cycles.append(chunk.cycles)
    different = result.different(expected)
    largest = np.abs(result.probabilities - expected.probabilities).max()
    speech = np.count_nonzero(expected.probabilities > THRESHOLD)
    print(
        f"{len(result.chunks):,} chunks, {speech:,} with speech; layers on {', '.join(machine.cores)}"
    )
    print(f"decisions that differ from onnxruntime's: {different}; probabilities by {largest:.2g}")
    print(f"evaluated in {seconds:.0f} s; {len(emulated)} chunks emulated, tensors that differ: {wrong}")  # fmt: skip
    print(f"cycles of a chunk: {machine.predicted:,} predicted, {min(cycles):,} to {max(cycles):,} measured")  # fmt: skip
    return int(bool(wrong or (different and options.type in ("float", "fp32"))))


if __name__ == "__main__":
    sys.exit(main())
