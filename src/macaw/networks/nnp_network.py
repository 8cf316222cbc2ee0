"""A model compiled for nnp alone: its program, its layers, and its runs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macaw import api, arguments, execution, files
from macaw.arguments import check_arguments
from macaw.asm.program import Program
from macaw.emu.engines import ENGINES
from macaw.errors import InputError
from macaw.input_binding import join_inputs
from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.layer_lowering import assemble_lowered, source_contents
from macaw.lowering.nnp.operations import Model
from macaw.lowering.nnp.reading import HOST
from macaw.lowering.nnp.source import SOURCE, Lowered
from macaw.network_description import FORMAT, MODEL, NETWORK_FILE
from macaw.networks.model_inputs import model_arrays
from macaw.phrases import one_line, plural, shape_text

CORE = "nnp"


@dataclass(frozen=True)
class NnpLayer:
    """A node of a model on nnp: its name, its operator, and the shape of its result.

    `tiles` is the number of native tiles of the node's matrices, `steps` the number of its time
    steps.
    """

    name: str
    operator: str
    shape: tuple[int, ...]
    tiles: int
    steps: int


@dataclass(frozen=True)
class NnpRun:
    """The result of a run: outputs by their names in the model, cycles, and nnp's counters by name.

    The outputs have the types and shapes of the model.
    """

    outputs: dict[str, NDArray[Any]]
    cycles: int
    counters: dict[str, int]

    def __eq__(self, other: object) -> bool:
        from macaw.array_comparison import equal_results

        return equal_results(self, other) if isinstance(other, NnpRun) else NotImplemented

    def __repr__(self) -> str:
        outputs = ", ".join(
            f"{name} {array.dtype.name} {shape_text(array.shape)}"
            for name, array in self.outputs.items()
        )
        return one_line(f"<run: {plural(self.cycles, 'cycle')}; {outputs}>")


@dataclass(frozen=True)
class NnpNetwork:
    """A model compiled for nnp: its program, and its layers.

    If the network was read from a folder, the program's files are in `folder`.
    """

    name: str
    config: Configuration
    model: bytes = field(repr=False)
    dims: Mapping[str, int]
    layers: tuple[NnpLayer, ...]
    operations: Model = field(repr=False)
    lowered: Lowered = field(repr=False)
    folder: Path | None = None

    def __repr__(self) -> str:
        layers = plural(len(self.layers), "layer")
        return one_line(f"<network {self.name} for nnp of {self.config.name}: {layers}>")

    @property
    def source(self) -> str:
        """The text of the assembly source."""
        return self.lowered.files.source

    @check_arguments(folder=arguments.path)
    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write source, weights, the model and net.json into a folder, which is made if missing.

        `macaw run`, `debug` and `profile` accept the folder. Raises `InputError` if a file cannot
        be written.
        """
        path = Path(folder)
        description = {
            "format": FORMAT,
            "core": CORE,
            "name": self.name,
            "device_name": self.config.name,
            "device": self.config.to_toml(comments=False),
            "dims": dict(self.dims),
            "sources": [SOURCE],
        }
        contents = source_contents(self.lowered.files, path / SOURCE)
        text = json.dumps(description, indent=1) + "\n"
        with files.new_folders([path]):
            more = [(path / MODEL, self.model), (path / NETWORK_FILE, text.encode())]
            files.write_all(chain(contents, more))

    @cached_property
    def program(self) -> Program:
        """The assembled program. Raises the errors of `macaw.load`."""
        if self.folder is not None:
            return api.load(self.folder / SOURCE)
        return assemble_lowered(self.lowered.files, Path(SOURCE).stem)

    @check_arguments(
        inputs=arguments.optional(arguments.mapping(arguments.array, "arrays by name")),
        engine=arguments.word,
        max_cycles=arguments.optional(arguments.whole(0)),
        keyword_inputs=arguments.anything,
    )
    def run(
        self,
        inputs: Mapping[str, ArrayLike] | None = None,
        *,
        engine: str = ENGINES[0],
        max_cycles: int | None = None,
        **keyword_inputs: ArrayLike,
    ) -> NnpRun:
        """Run the network in the emulator.

        The inputs have the names, types and shapes that the model declares. `max_cycles` limits the
        run. `engine` is one of `macaw.emu.engines.ENGINES`, which differ only in speed. Raises
        `InputError` for inputs that do not fit, `RunError` if the program does not exit.
        """
        arrays = self.device_inputs(join_inputs(inputs, keyword_inputs))
        result = execution.run(
            self.program,
            arrays,
            device=self.config,
            max_cycles=arguments.python_numbers(max_cycles),
            engine=engine,
        )
        outputs = {}
        for port in self.operations.outputs:
            rows = result.outputs[port.tensor].reshape(port.elements.shape)
            flat = np.zeros(int(np.prod(port.shape)), port.dtype)
            there = port.elements >= 0
            flat[port.elements[there]] = rows[there]
            outputs[port.name] = flat.reshape(port.shape)
        return NnpRun(outputs, result.cycles, dict(result.counters[CORE]))

    @check_arguments(inputs=arguments.mapping(arguments.array, "arrays by name"))
    def device_inputs(self, inputs: Mapping[str, object]) -> dict[str, NDArray[Any]]:
        """Return the inputs of the program, by its symbols, for inputs of the model.

        The results are native vectors in the number format of nnp's memory. Raises `InputError` for
        inputs that do not fit.
        """
        given = model_arrays(self.operations.inputs, inputs)
        host, native = HOST[str(self.config["nnp.host_format"])], int(self.config["nnp.native"])
        arrays = {}
        for port in self.operations.inputs:
            array = given[port.name]
            with np.errstate(over="ignore"):
                flat = array.reshape(-1).astype(host)
            wrong = np.isinf(flat) & np.isfinite(array.reshape(-1))
            if np.any(wrong):
                number = array.reshape(-1)[wrong][0]
                raise InputError(
                    f"the input '{port.name}' has {number:g}, no finite number of {host}",
                    "nnp.host_format",
                )
            rows = np.where(port.elements >= 0, flat[port.elements], np.zeros((), host))
            arrays[port.tensor] = rows.reshape(-1, native)
        return arrays

    @check_arguments(inputs=arguments.mapping(arguments.array, "arrays by name"))
    def expected(self, inputs: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        """Return the outputs, by name, that ONNX's reference evaluator computes for `inputs`.

        The evaluator computes in floating point, without the quantisation of nnp. It ignores the
        activations of recurrent layers; Macaw computes RNN, GRU and LSTM that have the attribute.
        Raises `InputError` for inputs that do not fit.
        """
        import onnx.reference

        from macaw.networks import recurrent_reference

        names = [port.name for port in self.operations.outputs]
        model = onnx.load_model_from_string(self.model)
        operators = recurrent_reference.operators(model)
        evaluator = onnx.reference.ReferenceEvaluator(model, new_ops=operators)
        feeds = model_arrays(self.operations.inputs, inputs)
        arrays = [np.asarray(array) for array in evaluator.run(names, feeds)]
        return dict(zip(names, arrays, strict=True))
