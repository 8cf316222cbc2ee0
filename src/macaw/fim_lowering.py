"""Lowers graphs of tasks to programs for the fim islands, explains the plans and measures them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
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
from macaw.isa.config import Configuration, load, presets
from macaw.isa.fim_circuit import FORMATS
from macaw.isa.fim_islands import geometry
from macaw.lowering.errors import LowerError
from macaw.lowering.fim import dispatch_program as dispatcher
from macaw.lowering.fim import explain, options, program, residency
from macaw.lowering.fim.bank_images import BankRows
from macaw.lowering.fim.clock import NEVER
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.plan import BRING, FETCH, GraphPlan, Option, Refusal, Step
from macaw.lowering.fim.schedule import schedule
from macaw.lowering.layer_source import SourceFiles

INSTRUCTIONS, FEWEST = (
    "fim.instructions",
    64,
)  # setting: instructions of an island; least limit for a step
EXTERNAL = "mem.external_bytes"
RESIDENT = 0.5  # the share of the banks for constants that stay

if TYPE_CHECKING:
    import onnx

    from macaw.lowering.fim.option_table import Unit


@dataclass(frozen=True)
class GraphMeasurement:
    """The result of running a lowered graph in the emulator.

    `cycles` is the length of the whole run, `dma` the number of cycles in which the dma worked or
    waited for banks. `error` is the largest relative error of the outputs: the difference from the
    value in float64, divided by the largest absolute number of that output. `steps` has the island,
    start and end of each step. `outputs` has the arrays by name.
    """

    cycles: int
    dma: int
    error: float
    steps: Sequence[MeasuredStep]
    outputs: Mapping[str, NDArray[Any]] = field(repr=False)


@dataclass(frozen=True)
class GraphLowering:
    """A lowered graph: its plan, its source and files, and the reasons for the plan.

    If `dynamic`, cp assigns steps to islands at run time. The plan is then only the one for a
    static assignment.
    """

    name: str
    graph: Graph
    config: Configuration
    plan: GraphPlan
    program: SourceFiles
    dynamic: bool = False

    @property
    def source(self) -> str:
        """The assembly source. It reads the arrays `files` from its own folder."""
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
    def resident_bytes(self) -> int:
        """The number of bytes of constants that stay in the banks of all islands."""
        return residency.resident_bytes(self.plan.steps)

    @property
    def dma(self) -> int:
        """The predicted number of cycles in which the dma works or waits for banks."""
        steps, actions = self.plan.steps, self.plan.actions
        copies = sum(row.end - row.begin for row in actions if row.kind in (BRING, FETCH))
        return copies + sum(row.option.bring for row in steps if row.option.island is None)

    def steps(self) -> list[str]:
        """Return a table of the plan's steps as lines of text."""
        return explain.steps(self.plan)

    def numbered_steps(self) -> dict[int, Step]:
        """Return the steps by their numbers in the source.

        A dynamic program has a number for each alternative.
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
        """Write the source to `path` and its files to the same folder. Raises `InputError`."""
        layer_lowering.write_sources(self.program, Path(path))

    def assemble(self) -> Program:
        """Assemble the source in a temporary folder, and return the program."""
        return layer_lowering.assemble_lowered(self.program, self.name)

    def random_inputs(self, seed: int) -> dict[str, NDArray[Any]]:
        """Return random numbers from -1 to 1 for all inputs, by name."""
        random = np.random.default_rng(seed)
        dtype = FORMATS[self.graph.form].dtype
        return {
            tensor.name: random.uniform(-1, 1, self.graph.shape(tensor)).astype(dtype)
            for tensor in self.graph.inputs
        }

    @check_arguments(inputs=arguments.optional(arguments.arrays), seed=arguments.seed)
    def measure(
        self, inputs: Mapping[str, ArrayLike] | None = None, *, seed: int = 0
    ) -> GraphMeasurement:
        """Run the program in the emulator, and return its cycles, outputs and errors.

        An input that is not given gets random numbers from -1 to 1. Raises `RunError`, and
        `InputError` for inputs that do not fit.
        """
        dtype = FORMATS[self.graph.form].dtype
        arrays = self.random_inputs(seed)
        for name, array in (inputs or {}).items():
            try:
                arrays[name] = np.asarray(array, dtype)
            except (TypeError, ValueError) as error:
                raise InputError(f"the input {name} is no array of numbers: {error}") from None
        assembled = self.assemble()
        watch = StepRecorder(assembled)
        run = execution.run(assembled, arrays, on_start=watch.begin)
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
    number_format=arguments.word,
    dims=arguments.optional(arguments.mapping(arguments.whole(1), "whole numbers from 1 by name")),
    together=arguments.flag,
    dynamic=arguments.flag,
    resident=arguments.number,
    name=arguments.optional(arguments.word),
)
def lower_graph(
    graph: str | os.PathLike[str] | onnx.ModelProto | Graph,
    *,
    device: api.DeviceLike = api.DEFAULT_DEVICE,
    number_format: str = "fp16",
    dims: Mapping[str, int] | None = None,
    together: bool = True,
    dynamic: bool = False,
    resident: float = RESIDENT,
    name: str | None = None,
) -> GraphLowering:
    """Lower a graph of tasks to a program for the fim islands of a device.

    `graph` is an ONNX file or model, or a `macaw.lowering.fim.graph.Graph`. `number_format`, fp16
    or fp32, is the format of the numbers of an ONNX graph. `dims` gives the sizes of an ONNX
    model's named dimensions. The names of the source's files begin with `name`.

    With `together=False`, each task starts separately: no producer is paired with its consumer, the
    blocks that compute products do not also compute functions, and islands share no product. With
    `dynamic`, cp assigns steps to islands at run time; the plan is then only the one for a static
    assignment, and islands share no product either.

    `resident` limits the constants that stay in the banks of each island, where the loader puts
    them: an integer is a number of bytes, a float a share of the banks. Other constants are copied
    from external memory at each run, and so are all with `dynamic`.

    Raises `InputError` for a graph that cannot be read or lowered, `ConfigError` for the device.
    """
    config, sizes = api.configuration(device), arguments.python_numbers(dims)
    name = name or (Path(graph).stem if isinstance(graph, str | os.PathLike) else "graph")
    try:
        room = int(config[EXTERNAL])
        tasks = (
            graph if isinstance(graph, Graph) else _read_graph(graph, number_format, sizes, room)
        )
        if not tasks.tasks:
            raise LowerError("the graph has no tasks")
        _check_memory(tasks, config)
        budget = int(resident) if isinstance(resident, Integral) else float(resident)
        plan, lowered = _plan_and_write(tasks, config, together, name, dynamic, budget)
        return GraphLowering(name, tasks, config, plan, lowered, dynamic)
    except LowerError as error:
        raise InputError(str(error), error.hint) from None


def _read_graph(
    graph: str | os.PathLike[str] | onnx.ModelProto,
    number_format: str,
    dims: Mapping[str, int] | None,
    room: int,
) -> Graph:
    try:
        from macaw.lowering.fim import onnx_graph
        from macaw.lowering.onnx import model_file
    except ImportError as error:
        raise InputError(
            f"an ONNX graph needs the package {error.name}", "pip install 'macaw-npu[onnx]'"
        ) from None
    form = onnx_graph.form_of(number_format)
    if isinstance(graph, str | os.PathLike):
        graph = model_file.parse(files.read_bytes(graph), Path(graph))
    else:
        model_file.check(graph)
    return onnx_graph.read(graph, form, dims, room).graph


def _check_memory(graph: Graph, config: Configuration) -> None:
    """Raise `LowerError` if the inputs and outputs do not fit into external memory."""
    size, room = FORMATS[graph.form].size, int(config[EXTERNAL])
    least = size * sum(tensor.numbers for tensor in (*graph.inputs, *graph.results))
    if least > room:
        raise LowerError(
            f"inputs and outputs take {least:,} bytes, external memory has {room:,}", EXTERNAL
        )


def _plan_and_write(
    graph: Graph,
    config: Configuration,
    together: bool,
    name: str,
    at_run_time: bool,
    resident: float,
) -> tuple[GraphPlan, SourceFiles]:
    """Return the plan and its program. Raises `LowerError`.

    At first, all constants of products and functions stay in the banks. If they need more rows than
    `resident` reserves, the scheduler may choose, for each task, that they do not; and if there is
    still no plan, none stays.
    """
    memory = geometry(config)
    reserved = residency.reserved_rows(resident, memory)
    if reserved and not at_run_time:
        for choice in (False, True):
            rows = BankRows(memory.rows, reserved, resident=True)
            with suppress(LowerError):
                return _planned(graph, config, together, name, at_run_time, rows, choice)
    return _planned(graph, config, together, name, at_run_time, BankRows(memory.rows))


def _planned(
    graph: Graph,
    config: Configuration,
    together: bool,
    name: str,
    at_run_time: bool,
    rows: BankRows,
    choice: bool = False,
) -> tuple[GraphPlan, SourceFiles]:
    """Return the plan and its program for tasks that use the rows in `rows`. Raises `LowerError`.

    At first, a task may have as many instructions as an island's memory can store. If the program
    does not fit in this memory, the function plans again with half of this limit, and so on.
    """
    words = int(config[INSTRUCTIONS])
    room_error: program.RoomError | None = None
    while True:
        limited = config.changed({INSTRUCTIONS: words})
        try:
            shared = together and not at_run_time
            ask = _option_source(graph, limited, rows, choice, shared)
            plan = schedule(graph, config, ask, together)
        except LowerError:
            if room_error is None:
                raise
            raise room_error from None
        if plan.makespan >= NEVER:
            raise LowerError("the constants need more rows than there are for them")
        plan = replace(plan, steps=residency.with_rows(plan.steps, rows.rows))
        try:
            return plan, _write_program(plan, config, name, at_run_time)
        except program.RoomError as error:
            room_error, words = error, words // 2
            if words < FEWEST:
                raise


def _option_source(
    graph: Graph, config: Configuration, rows: BankRows, choice: bool, together: bool
) -> Any:
    """Return the function that returns the options of tasks.

    With `choice`, there are two options for each island and layout if constants may stay in the
    banks: one in which they stay, and one in which copies bring them. With `together`, several
    islands may share a product.
    """

    def ask(unit: Unit, _: Configuration) -> list[Option | Refusal]:
        form, stored = graph.form, graph.results_of(unit) if len(unit) > 1 else ()
        answers = options.options(unit, config, form, rows, together, stored)
        if not rows.resident or not options.has_constants(unit):
            return answers
        exceeds = any(isinstance(row, Refusal) and row.exceeds_memory for row in answers)
        if not choice and not exceeds:
            return answers
        copied = replace(rows, resident=False)
        others = options.options(unit, config, form, copied, together, stored)
        if choice:
            return [*answers, *(row for row in others if isinstance(row, Option))]
        alone, shared = _alone_and_shared(answers)
        alone_copied, shared_copied = _alone_and_shared(others)
        pairs = zip(alone, alone_copied, strict=True)
        single = [copied if isinstance(row, Refusal) else row for row, copied in pairs]
        return [*single, *(shared or shared_copied)]

    return ask


def _alone_and_shared(
    answers: Sequence[Option | Refusal],
) -> tuple[list[Option | Refusal], list[Option | Refusal]]:
    """Divide answers into those about one island, and the options that several islands share."""
    alone: list[Option | Refusal] = []
    shared: list[Option | Refusal] = []
    for row in answers:
        (shared if isinstance(row, Option) and row.parts else alone).append(row)
    return alone, shared


def _write_program(
    plan: GraphPlan, config: Configuration, name: str, at_run_time: bool
) -> SourceFiles:
    texts: dict[str, str] = {}
    device = config.name
    if device not in presets() or load(device) != config:
        device = f'"{name}.device.toml"'
        texts[f"{name}.device.toml"] = config.to_toml()
    emit = dispatcher.emit if at_run_time else program.emit
    emitted = emit(plan, plan.graph, config, device, name)
    return SourceFiles(emitted.source, dict(emitted.files), texts)
