"""Generates Python software from an nnp program, runs it, and checks that its bits are the same."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw import api, arguments, files
from macaw.arguments import check_arguments
from macaw.asm.program import Program
from macaw.concordance.deviation import Deviation, find_deviation
from macaw.concordance.emulation import emulate
from macaw.concordance.generated_file import PACKAGES, run_generated, same_bits
from macaw.concordance.layer_tensors import LayerTensors, QuantisedTensor
from macaw.emu.core import Listener
from macaw.errors import InputError
from macaw.execution import configuration_of
from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.concord import picture
from macaw.lowering.concord.arithmetic import TARGETS
from macaw.lowering.concord.chains import Chain, SourceInstruction, chains
from macaw.lowering.concord.graph import Graph, Output, Tensor
from macaw.lowering.concord.hints import check_places, check_types, hints
from macaw.lowering.concord.software import Software, software
from macaw.lowering.concord.trace import trace
from macaw.lowering.errors import LowerError
from macaw.phrases import one_line, shape_text

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Difference:
    """The first element in which two results differ, and the instruction that wrote the element.

    `values` has pairs such as ("in the emulator", "0.5"): where a value comes from, and the value.
    `count` is the number of elements of the tensor that differ. `origin` is the first place in the
    program whose result differs.
    """

    tensor: str
    index: tuple[int, ...]
    values: tuple[tuple[str, str], ...]  # a source ("in the emulator"), and its value
    count: int  # elements of the tensor that differ
    place: SourceInstruction | None  # the instruction that wrote the element; None: unknown
    origin: Deviation | None = None  # the first chain that differs; None: not found

    def __str__(self) -> str:
        where = f"{self.tensor}[{', '.join(map(str, self.index))}]"
        claims = ", ".join(f"{value} {source}" for source, value in self.values)
        more = f" ({self.count} elements of {self.tensor} differ)" if self.count > 1 else ""
        writer = f"\nwritten by {self.place}" if self.place else ""
        if self.origin is not None:
            writer += f"\nfirst different after {self.origin}"
        return f"{where} is {claims}{more}{writer}"


@dataclass(frozen=True)
class Concordance:
    """A program of nnp, its data-flow graph, and the software that is generated from the graph.

    A chain is a sequence of instructions from a read to a write, through which vectors pass one
    after another. `chains` are those that the program executes, in this order.
    """

    program: Program
    config: Configuration  # the device
    target: str  # "numpy", "torch", "tensorflow" or "onnx"
    graph: Graph
    chains: Sequence[Chain]  # in the order in which the program executes them
    software: Software

    def __repr__(self) -> str:
        inputs, outputs = (
            ", ".join(f"{name} {tensor.shape}" for name, tensor in tensors.items())
            for tensors in (self.inputs, self.outputs)
        )
        return one_line(f"<software for {self.target}: layer({inputs}) gives {outputs}>")

    @property
    def text(self) -> str:
        """The text of the generated file."""
        return self.software.text

    @cached_property
    def tensors(self) -> LayerTensors:
        """The inputs and outputs of the generated function, and how the processor stores them."""
        return LayerTensors(self.program, self.config, self.software)

    @property
    def inputs(self) -> dict[str, Tensor]:
        """The tensors that the generated function takes, by name of the parameter."""
        return self.tensors.inputs

    @property
    def outputs(self) -> dict[str, Tensor]:
        """The tensors that the generated function returns, by name."""
        return self.tensors.outputs

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of all tensors: the number format of nnp's memory."""
        return self.tensors.dtype

    @check_arguments(path=arguments.path)
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the generated file to `path`. Raises `InputError` if that fails."""
        files.write_bytes(path, self.text.encode())

    @check_arguments(kind=arguments.word)
    def picture(self, kind: str) -> str:
        """Return a picture of the data-flow graph as text. `kind` is "dot" (Graphviz) or "svg".

        Raises `InputError` for another kind.
        """
        if kind not in picture.PICTURES:
            raise InputError(f"no picture '{kind}'", "there are " + ", ".join(picture.PICTURES))
        return picture.PICTURES[kind](self.graph)

    @check_arguments(seed=arguments.seed)
    def random(self, seed: int = 0) -> dict[str, NDArray[Any]]:
        """Return random inputs by name, drawn with `seed`.

        The numbers are normally distributed with a standard deviation of 0.5.
        """
        rng = np.random.default_rng(seed)
        return {
            name: (rng.normal(size=tensor.shape) / 2).astype(self.dtype)
            for name, tensor in self.inputs.items()
        }

    def weights(self) -> dict[str, NDArray[Any]]:
        """Return the inputs whose values are in the program's data sections, by name.

        The arrays have the type `dtype`.
        """
        return self.tensors.own_data()

    @check_arguments(data=arguments.arrays)
    def quantised(self, data: Arrays) -> dict[str, QuantisedTensor]:
        """Return inputs of the layer as the processor's quantisers convert them, by name.

        The arrays in `data` may have any real type; each is first rounded once to `dtype`.
        Raises `InputError` for an unknown name, a wrong shape or a NaN.
        """
        return {name: self.tensors.quantised(name, values) for name, values in data.items()}

    @check_arguments(data=arguments.arrays)
    def run(self, data: Arrays) -> dict[str, NDArray[Any]]:
        """Run the generated software on the inputs `data`; return the outputs by name.

        Raises `InputError` for data that do not fit, and if the package of the target is missing.
        """
        return run_generated(self.text, self.target, self.tensors.select(data))

    @check_arguments(data=arguments.arrays, listener=arguments.anything)
    def emulate(self, data: Arrays, listener: Listener | None = None) -> dict[str, NDArray[Any]]:
        """Run the program in the emulator on the inputs `data`; return the outputs by name.

        `listener` receives the events of the nnp core. Raises `InputError` for data that do not
        fit, `RunError` if the program does not exit.
        """
        return emulate(self.tensors, data, listener)

    @check_arguments(data=arguments.arrays, text=arguments.optional(arguments.word))
    def check(self, data: Arrays, text: str | None = None) -> Difference | None:
        """Run emulator and software on the inputs `data`, and return the first difference.

        Returns None if all bits of all outputs are equal. `text` replaces the generated file. If
        `data` also has arrays for outputs, the results are compared with these arrays, too. Raises
        the errors of `run` and `emulate`.
        """
        text = self.text if text is None else text
        emulated = self.emulate(data)
        computed = run_generated(text, self.target, self.tensors.select(data))
        for name, output in self.software.outputs.items():
            claims = {"in the emulator": emulated[name]}
            if name not in computed:
                raise InputError(f"the software gives no {name}")
            claims[f"in {PACKAGES[self.target]}"] = computed[name]
            if name in data:
                claims["in the data"] = self.tensors.check_array(name, output.tensor, data[name])
            difference = self._difference(name, output, claims)
            if difference is not None:
                origin = find_deviation(self.tensors, self.chains, self.target, text, data)
                return replace(difference, origin=origin)
        return None

    def _difference(self, name: str, output: Output, claims: Arrays) -> Difference | None:
        first, *others = claims.values()
        wrong = np.zeros(first.shape, bool)
        for other in others:
            if other.shape != first.shape or other.dtype != first.dtype:
                raise InputError(
                    f"{name} is {other.dtype}, {shape_text(other.shape)} in the software,"
                    f" {first.dtype}, {shape_text(first.shape)} in the emulator"
                )
            wrong |= ~same_bits(first, other)
        if not wrong.any():
            return None
        index = tuple(int(x) for x in np.argwhere(wrong)[0])
        values = tuple((source, repr(array[index].item())) for source, array in claims.items())
        native = self.tensors.native
        row, column = (0, *index)[-2:]
        blocks = -(-output.tensor.columns // native)
        place = output.places[row * blocks + column // native] if output.places else None
        return Difference(name, index, values, int(wrong.sum()), place)


def _entry(value: Any) -> str | None:
    """Return None for a pair (label, number of runs), else a text that describes such a pair.

    This is a check for `macaw.arguments`, which puts the text into the error message.
    """
    good = isinstance(value, tuple | list) and len(value) == 2 and not arguments.word(value[0])
    return None if good and not arguments.whole(1)(value[1]) else "a label and a number"


@check_arguments(
    program=arguments.program_or_path,
    target=arguments.word,
    device=arguments.optional(arguments.device),
    entries=arguments.sequence(_entry, "a list of pairs, a label and how often it runs"),
    name=arguments.word,
)
def concord(
    program: Program | api.FilePath,
    target: str = TARGETS[0],
    *,
    device: api.DeviceLike | None = None,
    entries: Sequence[tuple[str, int]] = (),
    name: str = "",
) -> Concordance:
    """Generate software for `target` from the nnp part of a program, or of the program in a file.

    `target` is numpy, torch, tensorflow or onnx. `entries` are pairs (label, times): nnp runs from
    each label `times` times, in this order. Without entries, nnp runs once from the part's first
    instruction. `name` appears in the docstring of the generated file. Raises `InputError` for a
    program that cannot be translated, and the errors of `load`.
    """
    if target not in TARGETS:
        raise InputError(f"no target '{target}'", "there are " + ", ".join(TARGETS))
    if not isinstance(program, Program):
        name = name or os.path.basename(os.fspath(program))  # noqa: PTH119 - of any kind of path
        program = api.load(program, device=device)
    config = configuration_of(program, device)
    try:
        executed = list(chains(program, config, arguments.python_numbers(list(entries))))
        graph = trace(executed, hints(program, config), config)
        generated = software(graph, config, target, name)
        results = [output.tensor for output in generated.outputs.values()]
        check_places(program, [*generated.inputs.values(), *results], config)
        check_types(program, generated.inputs.values(), config)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None
    concordance = Concordance(program, config, target, graph, executed, generated)
    concordance.tensors.check_padding()
    return concordance
