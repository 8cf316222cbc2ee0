"""Describes a product on islands by its graph, its plan, and the part of each island."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.plan import GraphPlan
from macaw.lowering.fim.product_parts import ProductPart, product_parts
from macaw.lowering.fim.program import RoomError

LEFT, RIGHT, RESULT = "a", "b", "c"  # names of the tensors in the graph
_EFFORT = 3000  # steps that the planner simulates; more would find hardly better plans


@dataclass(frozen=True, eq=False)
class IslandProduct:
    """Products of two stacks of matrices, and the islands that compute them.

    `layers` is the number of layers of the network that share the islands' instructions.
    """

    graph: Graph
    config: Configuration
    layers: int = 1

    def with_share(self, count: int) -> IslandProduct:
        """Return the same product, planned for a part of the islands' instructions: 1 / `count`."""
        return replace(self, layers=count)

    @property
    def plan(self) -> GraphPlan:
        """The plan of the products on the islands of the device.

        Raises `LowerError` if there is no plan.
        """
        if isinstance(self._answer, LowerError):
            raise LowerError(str(self._answer), self._answer.hint)
        return self._answer

    @cached_property
    def _answer(self) -> GraphPlan | LowerError:
        """The plan, or the error if there is none; computed once, because the search takes long."""
        from macaw.lowering.fim.planning import FEWEST, INSTRUCTIONS, Planner

        whole = int(self.config[INSTRUCTIONS])
        share = min(whole, max(FEWEST, whole // self.layers))
        config = self.config.changed({INSTRUCTIONS: share})
        try:
            return Planner(config, RESULT, effort=_EFFORT, divides=False).best(self.graph)[0]
        except RoomError as error:
            if share == whole:
                return LowerError(str(error), error.hint)
            return LowerError(
                f"{error.used}; each of the {self.layers} layers on islands may have {share:,} of"
                f" {whole:,} (fim.instructions)"
            )
        except LowerError as error:
            return LowerError(str(error), error.hint)

    @cached_property
    def parts(self) -> tuple[ProductPart, ...]:
        """Which island computes which rows and columns, and in which layout."""
        return product_parts(self.plan)
