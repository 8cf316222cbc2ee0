"""A product on islands: its graph, its plan, and the parts of the product that islands compute."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from macaw.isa.config import Configuration
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.plan import GraphPlan
from macaw.lowering.fim.planning import FEWEST, INSTRUCTIONS, Planner
from macaw.lowering.fim.product_parts import ProductPart, product_parts

LEFT, RIGHT, RESULT = "a", "b", "c"  # names of the tensors in the graph
_EFFORT = 3000  # steps that the planner simulates; more would find hardly better plans


@dataclass(frozen=True, eq=False)
class IslandProduct:
    """Products of two stacks of matrices, and the islands that compute them."""

    graph: Graph
    config: Configuration

    def with_share(self, count: int) -> IslandProduct:
        """Return the same product, planned for a part of the islands' instructions: 1 / `count`."""
        share = max(FEWEST, int(self.config[INSTRUCTIONS]) // count)
        return replace(self, config=self.config.changed({INSTRUCTIONS: share}))

    @cached_property
    def plan(self) -> GraphPlan:
        """The plan of the products on the islands of the device. Raises `LowerError`."""
        planner = Planner(self.config, RESULT, effort=_EFFORT, divides=False)
        return planner.best(self.graph)[0]

    @cached_property
    def parts(self) -> tuple[ProductPart, ...]:
        """Which island computes which rows and columns, and in which layout."""
        return product_parts(self.plan)
