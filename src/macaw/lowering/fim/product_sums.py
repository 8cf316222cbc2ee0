"""Finds sums of products, which an island can compute as one product with a longer k.

An island adds the products of a sum in its register Rz. So no product is stored, and no function
adds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from macaw.isa.fim_circuit import FORMATS
from macaw.lowering.fim.graph import POINTWISE, PRODUCT, Graph, Makers, Task

MOST_PRODUCTS = 16  # the most products of a sum


def product_sums(graph: Graph) -> list[tuple[Task, ...]]:
    """Return the sums of a graph, each as its products and additions in the order of the graph.

    Each product and partial sum is read by the next addition only, and is no result of the graph. A
    sum has at most `MOST_PRODUCTS` products. If it has more than two, the list also has the smaller
    sums that are parts of it.
    """
    if FORMATS[graph.form].is_integer:
        return []  # each product is rounded to int8 before the addition
    makers = graph.makers()
    reads = Counter(
        name for task in graph.tasks for tensor in task.inputs for name in makers.of(tensor)
    )
    results = {tensor.memory.name for tensor in graph.results}
    inner: dict[str, tuple[Task, ...]] = {}  # products and sums that an addition may read
    found = []
    for task in graph.tasks:
        name = task.output.name
        parts = [inner.get(tensor.name, ()) for tensor in task.inputs]
        unit: tuple[Task, ...] = ()
        if task.kind == PRODUCT:
            unit = (task,)
        elif task.kind == POINTWISE and task.function == "add" and all(parts):
            unit = (*parts[0], *parts[1], task)
            if len(unit) // 2 >= MOST_PRODUCTS:
                continue
            unit = tuple(sorted(unit, key=graph.tasks.index))
            found.append(unit)
        if unit and reads[name] == 1 and task.output.memory.name not in results:
            inner[name] = unit
    return found


def is_sum(unit: Sequence[Task]) -> bool:
    """Return whether a unit of tasks begins with a sum of products.

    The result is true if the unit has several products and no product reads a result of the unit.
    """
    products = [task for task in unit if task.kind == PRODUCT]
    makers = Makers(unit)
    return len(products) > 1 and not any(
        makers.of(tensor) for task in products for tensor in task.inputs
    )
