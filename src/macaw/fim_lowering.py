"""Lowers graphs of tasks to programs for the fim islands, explains the plans and measures them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macaw import api, arguments, execution, files, layer_lowering
from macaw.arguments import check_arguments
from macaw.asm.program import Program
from macaw.errors import InputError
from macaw.fim_step_recorder import MeasuredStep, StepRecorder
from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import FORMAT_NAMES, FORMATS
from macaw.isa.fim_islands import abilities
from macaw.lowering.errors import LowerError
from macaw.lowering.fim import dispatch_program as dispatcher
from macaw.lowering.fim import explain, residency
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.number_arrays import rounded
from macaw.lowering.fim.plan import COPIES, GraphPlan, Step
from macaw.lowering.fim.planning import Planner
from macaw.lowering.layer_source import SourceFiles
from macaw.phrases import one_line, plural

EXTERNAL = "mem.external_bytes"
RESIDENT = 0.5  # the share of the banks for constants that stay

if TYPE_CHECKING:
    import onnx


@dataclass(frozen=True)
class GraphMeasurement:
    """The result of running a lowered graph in the emulator.

    `cycles` is the length of the whole run. `dma` is the number of cycles in which the DMA engine
    worked or waited for memory banks. `error` is the largest relative error of all outputs: the
    difference of an element from its value in float64, divided by the largest absolute value of the
    output. A step is the work that an island does without interruption for one or more tasks of the
    graph; `steps` has the island, start and end of each. `outputs` has the arrays by name.
    """

    cycles: int
    dma: int
    error: float
    steps: Sequence[MeasuredStep]
    outputs: Mapping[str, NDArray[Any]] = field(repr=False)


@dataclass(frozen=True)
class GraphLowering:
    """A lowered graph: its plan, its source and files, and the reasons for the plan.

    The plan divides the graph into steps, and assigns each step to an island. If `dynamic`, the
    command processor assigns the steps at run time instead; the plan then shows a possible static
    assignment.
    """

    name: str
    graph: Graph
    config: Configuration
    plan: GraphPlan
    program: SourceFiles
    dynamic: bool = False

    def __repr__(self) -> str:
        cycles = plural(self.cycles, "cycle")
        text = f"<lowering of {self.name} for {self.config.name}: {cycles} predicted"
        return one_line(f"{text}, {plural(len(self.plan.steps), 'step')}>")

    @property
    def source(self) -> str:
        """The assembly source. It reads the arrays `files` from the folder in which it is."""
        return self.program.source

    @property
    def files(self) -> dict[str, NDArray[Any]]:
        """The arrays that the source reads, by file name."""
        return self.program.files

    @property
    def cycles(self) -> int:
        """The predicted number of cycles of the whole program."""
        return self.plan.makespan

    @property
    def least_cycles(self) -> int:
        """A lower bound of `cycles`: no plan with the same options ends earlier."""
        return self.plan.least

    @property
    def resident_bytes(self) -> int:
        """The sum over all islands of the bytes of constants that stay in the island's banks."""
        return residency.resident_bytes(self.plan.steps)

    @property
    def dma(self) -> int:
        """The predicted number of cycles in which the DMA engine works or waits for banks."""
        steps, actions = self.plan.steps, self.plan.actions
        copies = sum(row.end - row.begin for row in actions if row.kind in COPIES)
        return copies + sum(row.option.bring for row in steps if row.option.island is None)

    def steps(self) -> list[str]:
        """Return a table of the plan's steps as lines of text."""
        return explain.steps(self.plan)

    def numbered_steps(self) -> dict[int, Step]:
        """Return the steps by the numbers that their labels have in the source.

        In a dynamic program, a step has a number for each island that could execute it.
        """
        if not self.dynamic:
            return {step.number: step for step in self.plan.steps}
        units = dispatcher.runtime_tasks(self.plan)
        return {
            alternative.number: Step(number, alternative.option)
            for number, unit in enumerate(units)
            for alternative in unit.steps
        }

    def reasons(self) -> list[str]:
        """Return lines that explain the choice of each step's island and layout."""
        return explain.reasons(self.plan)

    @check_arguments(width=arguments.whole(1))
    def timeline(self, width: int = 80) -> list[str]:
        """Return a chart, as lines, of when each island and the dma will work.

        Each line has `width` columns.
        """
        return explain.timeline(self.plan, width)

    @check_arguments(path=arguments.path)
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the source to `path` and its files to the same folder.

        Raises `InputError` if a file cannot be written.
        """
        layer_lowering.write_sources(self.program, Path(path))

    def assemble(self) -> Program:
        """Assemble the source in a temporary folder, and return the program."""
        return layer_lowering.assemble_lowered(self.program, self.name)

    def random_inputs(self, seed: int) -> dict[str, NDArray[Any]]:
        """Return random inputs: an array by the name of each input. `seed` determines the numbers.

        In int8 they are all integers from -128 to 127. Otherwise they are numbers from -1 to 1,
        rounded to the graph's number format.
        """
        random = np.random.default_rng(seed)
        form = FORMATS[self.graph.form]
        if form.is_integer:
            return {
                tensor.name: random.integers(-128, 128, self.graph.shape(tensor), form.numbers)
                for tensor in self.graph.inputs
            }
        return {
            tensor.name: rounded(random.uniform(-1, 1, self.graph.shape(tensor)), form)
            for tensor in self.graph.inputs
        }

    @check_arguments(
        inputs=arguments.optional(arguments.arrays),
        seed=arguments.seed,
        max_cycles=arguments.optional(arguments.whole(0)),
    )
    def measure(
        self,
        inputs: Mapping[str, ArrayLike] | None = None,
        *,
        seed: int = 0,
        max_cycles: int | None = None,
    ) -> GraphMeasurement:
        """Run the program in the emulator, and return its cycles, outputs and errors.

        An input that is not in `inputs` gets random numbers from -1 to 1, drawn with `seed`. Raises
        `InputError` for inputs that do not fit, `RunError` if the program does not exit, within
        `max_cycles` if this is not None.
        """
        form = FORMATS[self.graph.form]
        arrays = self.random_inputs(seed)
        for name, array in (inputs or {}).items():
            wide = np.asarray(array)
            try:
                with np.errstate(over="ignore", invalid="ignore"):
                    arrays[name] = rounded(wide, form)
            except (TypeError, ValueError) as error:
                raise InputError(f"the input {name} is no array of numbers: {error}") from None
            overflows = np.isfinite(wide) & ~np.isfinite(arrays[name])
            if overflows.any():
                large = wide[overflows][0]
                raise InputError(f"the input {name}: {large:g} is too large for {form.name}")
        assembled = self.assemble()
        watch = StepRecorder(assembled)
        run = execution.run(assembled, arrays, on_start=watch.begin, max_cycles=max_cycles)
        return GraphMeasurement(
            cycles=run.cycles,
            dma=run.counters["dma"]["cycles_busy"],
            error=self._error(arrays, run.outputs),
            steps=watch.steps,
            outputs=run.outputs,
        )

    def _error(
        self, arrays: Mapping[str, NDArray[Any]], outputs: Mapping[str, NDArray[Any]]
    ) -> float:
        tensors = self.graph.tensors
        matrices = {
            name: array.reshape(tensors[name].rows, tensors[name].columns)
            for name, array in arrays.items()
        }
        with np.errstate(all="ignore"):
            exact = self.graph.evaluate(matrices)
            return max(
                float(np.max(np.abs(outputs[x.name].reshape(exact[x.name].shape) - exact[x.name])))
                / (float(np.max(np.abs(exact[x.name]))) or 1.0)
                for x in self.graph.results
            )


@check_arguments(
    graph=arguments.either(
        "the path of an ONNX file, an ONNX model or a Graph",
        arguments.path,
        arguments.instance("a Graph", "macaw.lowering.fim.graph:Graph"),
        arguments.instance("a model", "onnx:ModelProto"),
    ),
    device=arguments.device,
    number_format=arguments.optional(arguments.word),
    dims=arguments.optional(arguments.mapping(arguments.whole(1), "whole numbers from 1 by name")),
    together=arguments.flag,
    dynamic=arguments.flag,
    resident=arguments.number,
    name=arguments.optional(arguments.file_name),
)
def lower_graph(
    graph: str | os.PathLike[str] | onnx.ModelProto | Graph,
    *,
    device: api.DeviceLike = api.DEFAULT_DEVICE,
    number_format: str | None = None,
    dims: Mapping[str, int] | None = None,
    together: bool = True,
    dynamic: bool = False,
    resident: float = RESIDENT,
    name: str | None = None,
) -> GraphLowering:
    """Lower a graph of tasks to a program for the fim islands of a device.

    `graph` is an ONNX file or model, or a `macaw.lowering.fim.graph.Graph`. `number_format`, fp16,
    fp32 or bf16, is the format of the numbers of an ONNX graph, by default the first of these that
    an island of the device has. A quantised ONNX model has the format int8, by default if an island
    has it; the program's inputs and outputs are then the integers of the model. `dims` gives the
    sizes of an ONNX model's named dimensions. The names of the source's files begin with `name`.

    With `together=False`, each task starts separately: no producer is paired with its consumer, the
    blocks that compute products do not also compute functions, and islands share no product. With
    `dynamic`, cp assigns steps to islands at run time; the plan then shows only a static
    assignment, and islands share no product either.

    `resident` limits the constants that the loader of the program puts into the banks of each
    island, where they stay: an integer is a number of bytes, a float a share of the banks. All
    other constants are copied from external memory at each run; with `dynamic`, all constants are.

    Raises `InputError` for a graph that cannot be read or lowered, `ConfigError` for the device.
    """
    config, sizes = api.configuration(device), arguments.python_numbers(dims)
    name = name or (Path(graph).stem if isinstance(graph, str | os.PathLike) else "graph")
    try:
        tasks = (
            graph if isinstance(graph, Graph) else _read_graph(graph, number_format, sizes, config)
        )
        if not tasks.tasks:
            raise LowerError("the graph has no tasks")
        _check_memory(tasks, config)
        budget = int(resident) if isinstance(resident, Integral) else float(resident)
        plan, lowered = Planner(config, name, together, dynamic, budget).best(tasks)
        return GraphLowering(name, plan.graph, config, plan, lowered, dynamic)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None


def _first_format(config: Configuration, is_quantised: bool) -> str:
    """Return the first of `FORMAT_NAMES` that an island of a device has; fp16 if none has any.

    For a quantised model, int8 comes before all others.
    """
    islands = (abilities(config, number) for number in range(config["fim.islands"]))
    has = frozenset[str]().union(*(island.formats for island in islands))
    names = sorted(FORMAT_NAMES, key=lambda name: name != "int8") if is_quantised else FORMAT_NAMES
    return next((name for name in names if name in has), FORMAT_NAMES[0])


def _read_graph(
    graph: str | os.PathLike[str] | onnx.ModelProto,
    number_format: str | None,
    dims: Mapping[str, int] | None,
    config: Configuration,
) -> Graph:
    room = int(config[EXTERNAL])
    try:
        from macaw.lowering.fim import onnx_graph, onnx_integers
        from macaw.lowering.onnx import model_file
        from macaw.lowering.onnx.pipeline import is_quantised
    except ImportError as error:
        raise InputError(
            f"an ONNX graph needs the package {error.name}", "pip install 'macaw-npu[onnx]'"
        ) from None
    form = None if number_format is None else onnx_graph.form_of(number_format)
    if isinstance(graph, str | os.PathLike):
        graph = model_file.parse(files.read_bytes(graph), Path(graph))
    else:
        model_file.check(graph)
    integers = FORMAT_NAMES.index("int8")
    if form is None:
        form = FORMAT_NAMES.index(_first_format(config, is_quantised(graph)))
    if form == integers:
        return onnx_integers.read(graph, dims)
    return onnx_graph.read(graph, form, dims, room).graph


def _check_memory(graph: Graph, config: Configuration) -> None:
    """Raise `LowerError` if the inputs and outputs do not fit into external memory."""
    size, room = FORMATS[graph.form].size, int(config[EXTERNAL])
    least = size * sum(tensor.numbers for tensor in (*graph.inputs, *graph.results))
    if least > room:
        raise LowerError(
            f"inputs and outputs take {least:,} bytes, external memory has {room:,}", EXTERNAL
        )
