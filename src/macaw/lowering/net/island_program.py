"""Writes a layer of fim islands as a subroutine of a network's program, and predicts its cycles."""

from __future__ import annotations

from collections.abc import Sequence

from macaw.isa.config import Configuration
from macaw.isa.fim_circuit import FORMATS
from macaw.isa.fim_islands import geometry
from macaw.lowering.fim.graph import Task
from macaw.lowering.fim.plan_timing import LAST
from macaw.lowering.fim.subroutine import subroutine
from macaw.lowering.layer_source import SourceFiles
from macaw.lowering.net.island_products import LEFT, RESULT, RIGHT
from macaw.lowering.net.network import IslandLayer
from macaw.lowering.processor_cycles import ProcessorCycles


def island_subroutine(
    layer: IslandLayer, entry: str, inputs: Sequence[str], output: str, config: Configuration
) -> SourceFiles:
    """Return the source ENTRY.s of a subroutine of cp that lets islands compute a layer.

    `inputs` and `output` are the symbols of the layer's tensors. Raises `LowerError` if something
    does not fit into the islands or cp's memory.
    """
    symbols = dict(zip((LEFT, RIGHT, RESULT), (*inputs, output), strict=True))
    title = f"{entry}.s - {describe(layer)}. Written by macaw compile."
    return SourceFiles(subroutine(layer.product.plan, config, entry, symbols, title).source)


def describe(layer: IslandLayer) -> str:
    """Return a text about a layer: its matrix product, its shape, and the options of the plan."""
    tasks = layer.product.graph.tasks
    task = tasks[0]
    rows, depth = task.inputs[0].rows, task.inputs[0].columns
    count = "" if len(tasks) == 1 else f"{len(tasks)} times "
    used = sorted({step.option.name for step in layer.product.plan.steps})
    return f"matmul {count}{rows}×{depth} by {depth}×{task.output.columns}: {', '.join(used)}"


def island_prediction(layer: IslandLayer, config: Configuration) -> int:
    """Predict the device cycles from the call of a layer's subroutine to its return.

    The prediction is for a time in which no other core uses the dma.
    """
    cp = ProcessorCycles.of(config)
    # The makespan is that of a program with its last instructions, `LAST`. A subroutine has a
    # return in their place.
    return layer.product.plan.makespan + cp.call - LAST * cp.instruction


def products(tasks: Sequence[Task]) -> int:
    """Return how many multiplications of two numbers the matrix products `tasks` need."""
    return sum(task.inputs[0].numbers * task.output.columns for task in tasks)


def products_a_cycle(config: Configuration, form: int) -> float:
    """Return how many multiplications of two numbers all islands can do in a device cycle.

    Only islands with the number format `form` count.
    """
    name = FORMATS[form].name
    islands = [f"fim.island.{number}" for number in range(int(config["fim.islands"]))]
    rates = (
        int(config[f"{island}.lanes"]) / int(config[f"{island}.divider"])
        for island in islands
        if name in str(config[f"{island}.formats"]).split()
    )
    return geometry(config).banks * sum(rates)
