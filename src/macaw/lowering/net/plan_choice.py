"""Chooses the plan of one product of a network; several processes may do so at the same time.

A process that only chooses plans imports this module, and few others.
"""

from __future__ import annotations

from macaw.isa.config import Configuration
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.choose import Choice, choose
from macaw.lowering.convolution import Convolution
from macaw.lowering.errors import LowerError
from macaw.lowering.operation import Product


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


def _name(product: Product) -> str:
    """Return the name of a product's operation in `macaw lower`."""
    if isinstance(product, Convolution):
        return "depthwise" if product.depthwise else "conv2d"
    return "spmv" if product.vector else "spmm"
