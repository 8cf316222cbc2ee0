"""Chooses the plan of one product of a network; several processes may search at the same time.

A process that only searches for plans imports this module, and few others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.choose import Candidate, Choice, best_plans, choose, select
from macaw.lowering.convolution import Convolution
from macaw.lowering.errors import LowerError
from macaw.lowering.operation import Product
from macaw.lowering.plan import ProductPlan


@dataclass(frozen=True)
class PlanTask:
    """A product for which a plan has to be chosen, and the density of its first input."""

    product: Product
    config: Configuration
    density: float


def choose_plan(task: PlanTask) -> Choice | LowerError:
    """Return the choice of a plan for the product of a task, or the error if there is none."""
    product, config = task.product, task.config
    operation = _name(product)
    try:
        return choose(product.validated(config), config, density=task.density, operation=operation)
    except LowerError as error:
        return error


def best_of_mapping(search: tuple[PlanTask, str]) -> list[Candidate] | LowerError:
    """Return the best plan of each split for a task and a mapping, or the error if there is one."""
    task, mapping = search
    try:
        product = task.product.validated(task.config)
        return best_plans(product, task.config, mapping, split=None, density=task.density)
    except LowerError as error:
        return error


def choice_among(
    task: PlanTask, parts: Iterable[list[Candidate] | LowerError]
) -> Choice | LowerError:
    """Return what `choose_plan` returns. `parts` are the results of `best_of_mapping`.

    There is a part for each mapping, in the order of `MAPPINGS`. The candidates may come from other
    processes: they get the product of this process, so that its weights are in memory once.
    """
    try:
        product = task.product.validated(task.config)
    except LowerError as error:
        return error
    candidates = [
        replace(item, plan=with_product(item.plan, product))
        for part in parts
        if not isinstance(part, LowerError)
        for item in part
    ]
    return select(candidates, task.config, _name(product)) if candidates else choose_plan(task)


def with_product(plan: ProductPlan, product: Product) -> ProductPlan:
    """Return the plan for another product of the same shape."""
    if isinstance(product, Convolution) and not isinstance(plan.product, Convolution):
        assert product.matrix is not None
        product = product.matrix
    return replace(plan, product=product)


def _name(product: Product) -> str:
    """Return the name of a product's operation in `macaw lower`."""
    if isinstance(product, Convolution):
        return "depthwise" if product.depthwise else "conv2d"
    return "spmv" if product.vector else "spmm"
