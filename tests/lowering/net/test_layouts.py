"""Shapes and arrays of the model and of the device, index by index."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from macaw.lowering.net.layouts import device_shape, images_of, to_device, to_model

SHAPES = {
    (): (1,), (1,): (1,), (5,): (5,), (1, 5): (5,), (3, 5): (3, 5), (1, 1): (1,), (1, 2, 5): (2, 5),
    (3, 2, 5): (3, 2, 5), (1, 2, 3, 4): (3, 4, 2), (5, 2, 3, 4): (5, 3, 4, 2), (1, 1, 1, 1): (1, 1, 1),
    (1, 2, 3, 4, 5): (2, 3, 4, 5), (2, 2, 3, 4, 5): (2, 2, 3, 4, 5),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_each_element_is_at_its_place(shape: tuple[int, ...]) -> None:
    """Channels of images come last on the device, and a batch of one has no axis there."""
    array = np.arange(int(np.prod(shape))).reshape(shape)
    there = to_device(array)
    assert there.shape == device_shape(shape) == SHAPES[shape]
    assert there.flags.c_contiguous
    whole = there.reshape(shape[:1] + SHAPES[shape][-3:] if len(shape) == 4 else shape)
    for place in product(*map(range, shape)):
        moved = (place[0], place[2], place[3], place[1]) if len(shape) == 4 else place
        assert whole[moved] == array[place]
    assert np.array_equal(to_model(there, shape), array)
    assert images_of(shape) == (5 if shape == (5, 2, 3, 4) else 0)
