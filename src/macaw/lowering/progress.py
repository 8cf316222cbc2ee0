"""Computes when the rows of a result are in external memory, so that vc can begin to read them.

While the array computes an iteration, the dma stores the results of the iteration before it. After
this iteration and before the next one, cp writes to the word `progress` how many iterations are
left to dispatch. At that time, all results so far are in memory, except those of the iteration that
has just ended. When the last results are in memory, cp writes -1.
"""

from __future__ import annotations

import numpy as np

from macaw.lowering.convolution import Convolution, PointwiseProduct
from macaw.lowering.plan import ProductPlan

PROGRESS = "progress"  # label of the word with that number
ALL_LEFT = (1 << 31) - 1  # before the first iteration


def iterations_left(plan: ProductPlan) -> list[int] | None:
    """Return a limit for each row of results of an image, to tell when the row is complete.

    While the program runs, cp writes the number of iterations that are left. A row is in memory as
    soon as that number is not larger than the row's limit. Return None if the results are not an
    image (rows, columns, channels).
    """
    product = plan.product
    image = product.image if isinstance(product, PointwiseProduct) else product
    if not isinstance(image, Convolution) or image.images or image.turned:
        return None
    if image.out_layout != "hwc":
        return None
    pixels = image.columns if image is not product else 1  # pixels of one element of M
    left = np.full(product.m, plan.steps)
    strides, step = {}, 1
    for dim in reversed(plan.mapping.order):
        strides[dim] = step
        step *= plan.count(dim)
    last = sum((plan.count(dim) - 1) * strides[dim] for dim in "NK")
    part, high = plan.partition, plan.tile.length("M")
    for tile in range(plan.count("M")):
        number = plan.steps - 2 - (tile * strides["M"] + last)
        start = plan.tile_start("M", tile // max(1, plan.columns))
        for p in range(part.rows):
            for q in range(part.clusters):
                first = part.start("M", p, q) + start
                rows = left[first : first + high]
                np.minimum(rows, number, out=rows)
    return [int(number) for number in left.reshape(-1, pixels).min(axis=1)]
