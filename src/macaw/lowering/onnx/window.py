"""Windows of convolutions and pools: kernel, strides, dilations and padding of each dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError

SAME = ("SAME_UPPER", "SAME_LOWER")


@dataclass(frozen=True)
class Window:
    """How a kernel moves over an image; each tuple has a number for each dimension.

    `before` and `after` are the padding. With `ceil`, a last window that ends outside of the padded
    image counts, too.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    ceil: bool = False

    @property
    def reach(self) -> tuple[int, ...]:
        """The size of the part of the image that one window covers."""
        pairs = zip(self.kernel, self.dilations, strict=True)
        return tuple((size - 1) * dilation + 1 for size, dilation in pairs)


def window_of(attributes: Mapping[str, Any], image: Sequence[int], kernel: Sequence[int]) -> Window:
    """Return the window of a Conv or a pool over an image.

    `attributes` are those of the node; `image` and `kernel` are sizes. Raises `LowerError` for
    attributes that do not fit together, and for a kernel that is larger than the padded image. If
    the kernel has one element along a dimension, the dilation has no effect there and becomes 1.
    """
    count = len(kernel)
    if tuple(attributes.get("kernel_shape", kernel)) != tuple(kernel):
        raise LowerError(f"a kernel_shape of {attributes['kernel_shape']}, weights {tuple(kernel)}")
    strides = _numbers(attributes, "strides", count)
    dilations = tuple(
        dilation if size > 1 else 1
        for dilation, size in zip(_numbers(attributes, "dilations", count), kernel, strict=True)
    )
    auto = attributes.get("auto_pad", "NOTSET")
    pads = [int(n) for n in attributes.get("pads", [0] * 2 * count)]
    if auto == "VALID":
        pads = [0] * 2 * count
    elif auto in SAME:
        for axis, size in enumerate(image):
            reach = (kernel[axis] - 1) * dilations[axis] + 1
            total = max((-(-size // strides[axis]) - 1) * strides[axis] + reach - size, 0)
            pads[axis], pads[count + axis] = halves(total, auto)
    elif auto not in ("NOTSET", ""):
        raise LowerError(f"auto_pad {auto}")
    if min(pads, default=0) < 0:
        raise LowerError("a negative frame", "Slice takes a part")
    before, after = tuple(pads[:count]), tuple(pads[count:])
    ceil = bool(attributes.get("ceil_mode", 0))
    window = Window(tuple(kernel), strides, dilations, before, after, ceil)
    if min(output_sizes(window, image)) < 1:
        what = f"a kernel {window.kernel}"
        if window.reach != window.kernel:
            what += f", with its dilations {window.reach},"
        raise LowerError(f"{what} does not fit into an image of {tuple(image)}")
    return window


def _numbers(attributes: Mapping[str, Any], name: str, count: int) -> tuple[int, ...]:
    return tuple(int(number) for number in attributes.get(name, [1] * count))


def halves(total: int, auto: str) -> tuple[int, int]:
    """Return the parts (before, after) into which `auto` divides the padding `total`.

    `auto` is SAME_UPPER or SAME_LOWER.
    """
    less, more = total // 2, total - total // 2
    return (less, more) if auto == "SAME_UPPER" else (more, less)


def output_sizes(window: Window, image: Sequence[int]) -> tuple[int, ...]:
    """Return the number of windows along each dimension of an image."""
    sizes = []
    for axis, (size, reach) in enumerate(zip(image, window.reach, strict=True)):
        stride = window.strides[axis]
        room = size + window.before[axis] + window.after[axis] - reach
        count = -(-room // stride) if window.ceil else room // stride
        if window.ceil and count * stride >= size + window.before[axis]:
            count -= 1  # a window that begins after the end of the image
        sizes.append(count + 1)
    return tuple(sizes)


def transposed_window(
    attributes: Mapping[str, Any], image: Sequence[int], kernel: Sequence[int]
) -> tuple[Window, tuple[int, ...]]:
    """Return the window of a ConvTranspose and the sizes of its result.

    `attributes` are those of the node; `image` and `kernel` are sizes. Raises `LowerError` for
    negative padding, and if the result would have no elements.
    """
    count = len(kernel)
    strides = _numbers(attributes, "strides", count)
    dilations = _numbers(attributes, "dilations", count)
    extra = [int(n) for n in attributes.get("output_padding", [0] * count)]
    auto = attributes.get("auto_pad", "NOTSET")
    pads = [int(n) for n in attributes.get("pads", [0] * 2 * count)]
    sizes = attributes.get("output_shape")
    reach = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations, strict=True)]
    whole = [(n - 1) * strides[axis] + reach[axis] + extra[axis] for axis, n in enumerate(image)]
    if sizes is None and auto in SAME:
        sizes = [size * stride for size, stride in zip(image, strides, strict=True)]
    if sizes is not None:
        sizes = [int(size) for size in sizes][-count:]
        for axis in range(count):
            total = max(whole[axis] - sizes[axis], 0)
            # the larger half comes first, as ONNX defines it
            upper = auto if auto in SAME else "SAME_LOWER"
            pads[axis], pads[count + axis] = halves(total, upper)
    elif auto == "VALID":
        pads = [0] * 2 * count
    results = tuple(whole[axis] - pads[axis] - pads[count + axis] for axis in range(count))
    # elements to which no tap contributes are 0
    results = results if sizes is None else tuple(sizes)
    window = Window(tuple(kernel), strides, dilations, tuple(pads[:count]), tuple(pads[count:]))
    if min(pads) < 0 or min(results) < 1:
        raise LowerError(f"a padding of {tuple(pads)}", "0 at least, less than the result")
    return window, results
