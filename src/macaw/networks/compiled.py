"""A model compiled for a device: its program, the cost of each layer, and its runs."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macaw import api, arguments, files
from macaw.arguments import check_arguments
from macaw.asm.network import Columns
from macaw.asm.program import Program
from macaw.emu.engines import ENGINES
from macaw.errors import InputError
from macaw.input_binding import join_inputs
from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.layer_lowering import errors_without_folder, source_contents, without_folder
from macaw.lowering.layer_source import SourceFiles
from macaw.lowering.net.assign import Assignment
from macaw.lowering.net.edge import Edge
from macaw.lowering.net.layouts import to_device, to_model
from macaw.lowering.net.program import END
from macaw.lowering.net.recurrent_layers import RecurrentLayer
from macaw.lowering.net.report import LayerReport
from macaw.lowering.onnx import network as model_layers
from macaw.lowering.onnx import reference
from macaw.lowering.onnx.requantise import dequantise_array, quantise_array
from macaw.network_description import FORMAT, MODEL, NETWORK_FILE
from macaw.networks.island_settings import IslandSettings, core_definitions
from macaw.networks.layer_runs import LayerRun, busy_shares, run_layers
from macaw.networks.model_inputs import model_arrays
from macaw.phrases import one_line, plural, shape_text


@dataclass(frozen=True)
class LayerResult:
    """A layer of a run: its report, its measured cycles, and whether its output is right.

    `utilisation` is the share of the layer's cycles in which a PE of the array multiplied, as a
    mean over all PEs. `equal` is true if the output equals the reference evaluator's bit for bit.
    `busy` has the share of the layer's cycles in which each core worked. The sum over the cores can
    be more than 1, because cores may work at the same time.
    """

    report: LayerReport
    cycles: int
    utilisation: float
    equal: bool
    busy: dict[str, float]


@dataclass(frozen=True)
class NetworkRun:
    """The result of running a network: its outputs, all tensors and the layers.

    `outputs` and `tensors` are given by their names in the model. `outputs` have the types and
    shapes of the model; `tensors` have the shapes of the model and the numbers of the device:
    quantised integers, or float32 where the model is not quantised. `cycles` is the length of the
    run up to the end of the last layer. `busy` has the share of these cycles in which each of cp,
    dma, vc and the array (`pe`) worked. For nnp and fim, it has the share of these cycles in which
    a layer of this core ran.
    """

    outputs: dict[str, NDArray[Any]]
    tensors: dict[str, NDArray[Any]]
    cycles: int
    layers: tuple[LayerResult, ...]
    busy: dict[str, float]

    def __eq__(self, other: object) -> bool:
        from macaw.array_comparison import equal_results

        return equal_results(self, other) if isinstance(other, NetworkRun) else NotImplemented

    def __repr__(self) -> str:
        size = f"{plural(self.cycles, 'cycle')}, {plural(len(self.layers), 'layer')}"
        outputs = ", ".join(
            f"{name} {array.dtype.name} {shape_text(array.shape)}"
            for name, array in self.outputs.items()
        )
        return one_line(f"<run: {size}; {outputs}>")


@dataclass(frozen=True)
class CompiledNetwork:
    """A model compiled for a device: its program, and a report of each layer.

    `symbols` has the program's symbol of each tensor on the device, by the tensor's name in the
    model. Some tensors are columns of another tensor; for the symbol of such a tensor, `columns`
    has the other tensor's symbol and says which of its columns they are. `sources` has the source
    files by name, in the order in which they are assembled. If the network was read from a folder,
    the files are in `folder`, and the values of `sources` are None. `dims` has the sizes of the
    model's named dimensions. `model` is the ONNX file.
    """

    name: str
    config: Configuration
    layers: tuple[LayerReport, ...]
    symbols: Mapping[str, str]
    model: bytes = field(repr=False)
    dims: Mapping[str, int]
    network: model_layers.Network = field(repr=False)
    assignment: Assignment = field(repr=False)
    sources: Mapping[str, SourceFiles | None] = field(repr=False)
    columns: Mapping[str, Columns] = field(default_factory=dict, repr=False)
    folder: Path | None = None
    islands: IslandSettings = field(default_factory=IslandSettings, repr=False)

    def __repr__(self) -> str:
        macs = sum(layer.macs for layer in self.layers)
        parts = f"{plural(len(self.layers), 'layer')}, {plural(macs, 'product')}"
        return one_line(f"<network {self.name} for {self.config.name}: {parts}>")

    @check_arguments(folder=arguments.path)
    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write sources, weights, the model and net.json into a folder, which is made if missing.

        `macaw run`, `debug` and `profile` accept the folder. Raises `InputError` if a file cannot
        be written, or if the network was read from a folder.
        """
        path, contents = Path(folder), list[Iterable[tuple[Path, bytes]]]()
        for name, source in self.sources.items():
            if source is None:
                raise InputError(f"the network's files are in {self.folder} already")
            contents.append(source_contents(source, path / name))
        contents.append([(path / MODEL, self.model)])
        contents.append([(path / NETWORK_FILE, self._description().encode())])
        with files.new_folders([path]):
            files.write_all(chain.from_iterable(contents))

    def _description(self) -> str:
        inputs = {layer.name: layer.inputs for layer in self.assignment.network.layers}
        description = {
            "format": FORMAT,
            "name": self.name,
            "device_name": self.config.name,
            "device": self.config.to_toml(comments=False),
            "dims": dict(self.dims),
            "sources": list(self.sources),
            "symbols": dict(self.symbols),
            "columns": dict(self.columns),
            "after_last": END,
            **({"islands": self.islands.description()} if self.islands.names else {}),
            "layers": [
                {**dataclasses.asdict(layer), "inputs": list(inputs[layer.name])}
                for layer in self.layers
            ],
        }
        return json.dumps(description, indent=1) + "\n"

    @cached_property
    def _definitions(self) -> Mapping[str, reference.Definition]:
        """The NumPy functions that compute the layers of nnp and of islands, by layer name."""
        return core_definitions(self.network, self.config, self.islands.parts)

    @cached_property
    def _elements(self) -> Mapping[str, NDArray[np.bool_]]:
        """Masks of the elements of nnp's native vectors that are not padding, by tensor name."""
        layers = self.network.layers
        return {x.outputs[0]: x.elements for x in layers if isinstance(x, RecurrentLayer)}

    @cached_property
    def program(self) -> Program:
        """The assembled program. Raises the errors of `macaw.load`."""
        if self.folder is not None:
            return api.load(*(self.folder / name for name in self.sources))
        with tempfile.TemporaryDirectory() as folder, errors_without_folder(folder):
            self.write(folder)
            program = api.load(*(Path(folder) / name for name in self.sources))
            return without_folder(program, folder)

    @check_arguments(
        inputs=arguments.optional(arguments.mapping(arguments.array, "arrays by name")),
        engine=arguments.word,
        max_cycles=arguments.optional(arguments.whole(0)),
        on_layer=arguments.optional(arguments.function),
        keyword_inputs=arguments.anything,
    )
    def run(
        self,
        inputs: Mapping[str, ArrayLike] | None = None,
        *,
        engine: str = ENGINES[0],
        max_cycles: int | None = None,
        on_layer: Callable[[int], object] | None = None,
        **keyword_inputs: ArrayLike,
    ) -> NetworkRun:
        """Run the network in the emulator, and compare each layer with the reference evaluator.

        The inputs have the names, types and shapes that the model declares; real numbers are
        quantised before the run. `max_cycles` limits the run. After each layer, the method calls
        `on_layer` with the number of layers that have ended. Raises `InputError` for inputs that do
        not fit, `RunError` if the program does not exit. `engine` is one of
        `macaw.emu.engines.ENGINES`, which differ only in speed.
        """
        arrays = model_arrays(self.assignment.inputs, join_inputs(inputs, keyword_inputs))
        expected = reference.evaluate(self.network, arrays, self._definitions)
        edges = self.assignment.inputs
        runs: list[LayerRun] = []
        for run in run_layers(
            self.program,
            self._integers(arrays),
            [layer.symbol for layer in self.layers],
            [self.symbols[layer.tensor] for layer in self.layers],
            END,
            config=self.config,
            engine=engine,
            max_cycles=arguments.python_numbers(max_cycles),
        ):
            runs.append(run)
            if on_layer is not None:
                on_layer(len(runs))
        tensors = {edge.tensor: _integers(edge, arrays[edge.name]) for edge in edges}
        results = []
        for layer, before, run in zip(self.layers, (None, *runs), runs, strict=False):
            tensors |= self._tensors_of(layer.tensor, run.output)
            equal = self._is_right(tensors[layer.tensor], layer.tensor, expected)
            shares = busy_shares(run, before)
            results.append(LayerResult(layer, run.cycles, self._utilisation(run), equal, shares))
        outputs = {edge.name: self._output(edge, tensors) for edge in self.assignment.outputs}
        busy = busy_shares(runs[-1]) | self._layer_shares(results, runs[-1].end)
        return NetworkRun(outputs, tensors, runs[-1].end, tuple(results), busy)

    @check_arguments(inputs=arguments.mapping(arguments.array, "arrays by name"))
    def evaluate(self, inputs: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        """Return the outputs, by name, as the reference evaluator computes them, without a run.

        The outputs have the types and shapes of the model, and equal the outputs of `run` bit for
        bit. The inputs have the names, types and shapes that the model declares. Raises
        `InputError` for inputs that do not fit.
        """
        arrays = model_arrays(self.assignment.inputs, inputs)
        tensors = reference.evaluate(self.network, arrays, self._definitions)
        return {edge.name: tensors[edge.name] for edge in self.assignment.outputs}

    @check_arguments(inputs=arguments.mapping(arguments.array, "arrays by name"))
    def device_inputs(self, inputs: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        """Return the inputs of the program, by its symbols, for inputs of the model.

        The results have the type, the shape and the order of elements of the tensors on the device.
        If the names in `inputs` are symbols of the program instead, the arrays are returned
        unchanged. Raises `InputError` for inputs that do not fit.
        """
        if inputs and all(name in self._own_inputs for name in inputs):
            return {name: np.asarray(array) for name, array in inputs.items()}
        return self._integers(model_arrays(self.assignment.inputs, inputs))

    @property
    def _own_inputs(self) -> set[str]:
        """The symbols of the program's inputs, without those that are names of model inputs."""
        edges = self.assignment.inputs
        return {self.symbols[edge.tensor] for edge in edges} - {edge.name for edge in edges}

    def _integers(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return the inputs of the program, by its symbols, for checked inputs of the model."""
        return {
            self.symbols[edge.tensor]: to_device(_integers(edge, arrays[edge.name]))
            for edge in self.assignment.inputs
        }

    def _output(self, edge: Edge, tensors: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return an output of the model from `tensors`, the arrays of the device by tensor name.

        `edge` says which output it is, and which tensor of the device has it.
        """
        home = self.assignment.network.home(edge.tensor)
        shape = self.network.tensors[edge.tensor].shape
        integers = to_model(to_device(tensors[home]), shape)  # the same bytes
        return _model_values(edge, integers).reshape(edge.shape)

    def _tensors_of(self, name: str, array: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return the tensors that a layer computes, by name and in the shapes of the model.

        `name` is the result's name, `array` its tensor on the device. If the result is only some
        columns of this tensor, the mapping also has the whole tensor.
        """
        shape, home = self.network.tensors[name].shape, self.assignment.network.home(name)
        columns = self.columns.get(self.symbols[name])
        if columns is None:
            return {name: self._without_padding(name, to_model(array, shape))}
        part = array[..., columns.first : columns.first + columns.length]
        whole = to_model(array, self.network.tensors[home].shape)
        return {name: to_model(part, shape), home: whole}

    def _without_padding(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        """Return the tensor `name` with zeros where nnp's native vectors have padding."""
        elements = self._elements.get(name)
        return array if elements is None else np.where(elements, array, array.dtype.type(0))

    def _layer_shares(self, results: Sequence[LayerResult], end: int) -> dict[str, float]:
        """Return for nnp and for fim the share of the run's cycles in which its layers run.

        The run has `end` cycles. A core without layers is not in the result.
        """
        cycles = {"nnp": 0, "fim": 0}
        for result in results:
            if result.report.core in cycles:
                cycles[result.report.core] += result.cycles
        return {core: count / end for core, count in cycles.items() if count}

    def _is_right(
        self, result: NDArray[Any], name: str, expected: Mapping[str, NDArray[Any]]
    ) -> bool:
        """Return whether a layer's result `name` equals the reference evaluator's result.

        `expected` has the results of the reference evaluator by name.
        """
        for edge in self.assignment.outputs:
            if edge.tensor == name and edge.multipliers is not None:
                return np.array_equal(_model_values(edge, result), expected[edge.name])
        real = result.dtype.kind == "f"
        same = np.array_equal(result, expected[name], equal_nan=real)
        return same and result.dtype == expected[name].dtype

    def _utilisation(self, run: LayerRun) -> float:
        pes = int(self.config["pe.rows"] * self.config["pe.clusters"] * self.config["pe.pes"])
        return run.products / (pes * run.cycles)


def _integers(edge: Edge, array: NDArray[Any]) -> NDArray[Any]:
    """Return an input of the model as the numbers of the device.

    `edge` says which input it is, `array` is its array in the model. The numbers are integers, or
    real numbers if the device does not compute this input in integers.
    """
    if edge.quantisation is not None:
        return quantise_array(array, edge.quantisation, edge.integers)
    if np.dtype(edge.integers).kind == "f":
        return array
    return (array.astype(np.int64) - edge.offset).astype(edge.integers)


def _model_values(edge: Edge, integers: NDArray[Any]) -> NDArray[Any]:
    """Return an output of the model, in the model's type, from the numbers of the device.

    `edge` says which output it is. `integers` are these numbers: integers, or real numbers if the
    device computes them so.
    """
    if edge.multipliers is not None:
        return np.asarray(integers.astype(np.float32) * edge.multipliers)
    if edge.quantisation is not None:
        return dequantise_array(integers, edge.quantisation)
    if np.dtype(edge.dtype).kind == "f":
        return integers
    return (integers.astype(np.int64) + edge.offset).astype(edge.dtype)
