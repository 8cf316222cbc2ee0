"""Finds the outputs of tasks that the host or another task of a graph reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from macaw.lowering.fim.graph import Graph, Makers, Task, Tensor

_THE_HOST = ""  # the reading "task" of results of the graph


class Readers:
    """Says which tensors the tasks of a graph read, and which the host reads after the program."""

    def __init__(self, graph: Graph) -> None:
        # by the name of a memory: (name of the output of a reading task, what it reads)
        self._reads: dict[str, list[tuple[str, Tensor]]] = defaultdict(list)
        for task in graph.tasks:
            for tensor in task.inputs:
                self._reads[tensor.memory.name].append((task.output.name, tensor))
        for tensor in graph.results:
            self._reads[tensor.memory.name].append((_THE_HOST, tensor))

    def results_of(self, tasks: Sequence[Task]) -> list[Tensor]:
        """Return those outputs of `tasks`, in order, that the host or another task reads."""
        own, makers = {task.output.name for task in tasks}, Makers(tasks)
        memories = {task.output.memory.name for task in tasks}
        reads = (read for name in memories for read in self._reads.get(name, ()))
        names = {name for reader, x in reads if reader not in own for name in makers.of(x)}
        return [task.output for task in tasks if task.output.name in names]
