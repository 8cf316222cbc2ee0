"""Writes sums, products and rescaled tensors as code of the SIMD core vc.

A pass of a loop computes one or two groups of 16 elements, and loads the next groups to hide the
latency of memory. The last group may be longer than the tensor: the code writes up to the next
multiple of 64 bytes, where the next tensor begins, and reads at most 64 bytes more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.vector_layouts import VECTOR_BYTES
from macaw.lowering.net.vector.arithmetic import (
    FIRST,
    SCALES,
    SECOND,
    Rounding,
    each,
    splat,
    widen_halves,
    widen_pair,
    widen_quarters,
)
from macaw.lowering.net.vector.columns import GROUP, Columns
from macaw.lowering.net.vector.fixed_point import FixedPoint, fixed_point
from macaw.lowering.net.vector.kernel import Kernel
from macaw.lowering.net.vector.operations import ElementwiseProduct, Rescale, Sum, elements

Scaled = Sum | Rescale | ElementwiseProduct
_LOADED = (("vr0", "vr1"), ("vr2", "vr3"))  # registers of a group of each input
_POINTERS = ("a0", "a1")
_RESULT = "a2"
_END = "t6"
# pointers to the first input, second input and result of a product by channels
_CHANNELS = ("a3", "a1", "a4")
_REPEATED = "vc_scratch"  # the second input, repeated
_COPIED = 4  # number of groups of 16 bytes that are copied at once


def scaled_kernel(operation: Scaled, inputs: Sequence[str], result: str) -> Kernel:
    """Return the code of an operation; `inputs` and `result` are the symbols of its tensors."""
    k = Kernel()
    write_scaled(k, operation, inputs, result)
    return k


def write_scaled(k: Kernel, operation: Scaled, inputs: Sequence[str], result: str) -> None:
    """Append the code of an operation; `inputs` and `result` are the symbols of its tensors."""
    group = _Group(operation)
    if isinstance(operation, ElementwiseProduct) and operation.by_channel:
        _by_channel(k, operation, group, (*inputs, result))
        return
    paired = group.rounding.paired
    columns = Columns(GROUP, "int16" if paired else operation.dtype)  # with the group's registers
    step = columns.group_bytes
    for number in range(operation.count):
        k.put(f"la {_POINTERS[number]}, {inputs[number]}")
    k.put(f"la {_RESULT}, {result}")
    group.begin(k)
    loaded = [_LOADED[number][: columns.registers] for number in range(operation.count)]
    pointers = _POINTERS[: operation.count]

    def load(offset: int) -> None:
        for pointer, registers in zip(pointers, loaded, strict=True):
            columns.load(k, registers, pointer, offset)

    load(0)
    moves = [f"addi {pointer}, {pointer}, {step}" for pointer in (*pointers, _RESULT)]
    count = elements(operation.shape)
    group_size = 2 * GROUP if paired else GROUP
    with k.loop(-(-count // group_size), "a0", step, _END, f"{group_size} elements"):
        group.write(k, loaded, lambda: load(step), moves)
        columns.store(k, group.rounding.results, _RESULT, -step)


def _by_channel(
    k: Kernel, operation: ElementwiseProduct, group: _Group, symbols: Sequence[str]
) -> None:
    """Write the code of a product whose second input has one element for each channel.

    `group` has the arithmetic; `symbols` are those of both inputs and the result.
    """
    a, b, result = symbols
    columns = Columns(operation.shape[-1], operation.dtype)
    positions = elements(operation.shape[:-1])
    columns.begin(k)
    fold = columns.fold(positions)
    if fold > 1:
        _repeat(k, columns, fold, b)
        columns, positions, b = columns.folded(fold), positions // fold, _REPEATED
    for pointer, symbol in zip(_CHANNELS, (a, b, result), strict=True):
        k.put(f"la {pointer}, {symbol}")
    group.begin(k)
    if columns.full_groups:
        with k.loop(columns.full_groups, "a1", columns.group_bytes, "s0", "16 channels"):
            _positions(k, operation, columns, group, positions)
            for pointer in _CHANNELS:
                k.add(pointer, columns.group_bytes)
    if columns.last is not None:
        if columns.full_groups:
            back = (columns.last - columns.full_groups * GROUP) * columns.size
            for pointer in _CHANNELS:
                k.add(pointer, back)
        _positions(k, operation, columns, group, positions)


def _repeat(k: Kernel, columns: Columns, count: int, symbol: str) -> None:
    """Write code that stores `count` adjacent copies of the second input at `_REPEATED`.

    Several positions are treated as one (`Columns.fold`), and each of them needs a copy. The second
    input is at `symbol`. The code for a copy may write beyond its end; the next copy overwrites
    these bytes.
    """
    k.spaces[_REPEATED] = count * columns.pitch + VECTOR_BYTES
    k.put(f"la a2, {_REPEATED}")
    k.put(f"li t3, {-(-columns.pitch // VECTOR_BYTES) * VECTOR_BYTES - columns.pitch}")
    k.put("li s1, 0")
    with k.loop(count, "s1", 1, "s2", "a copy for each position"):
        k.put(f"la a1, {symbol}")
        groups = -(-columns.pitch // VECTOR_BYTES)
        for together in (_COPIED, 1):
            passes, groups = divmod(groups, together)
            with k.loop(passes, "a1", together * VECTOR_BYTES, "s0"):
                for number in range(together):
                    columns.load(k, [f"vr{number}"], "a1", number * VECTOR_BYTES)
                for number in range(together):
                    columns.move(k, f"vr{number}", "a2", number * VECTOR_BYTES)
                k.add("a1", together * VECTOR_BYTES)
                k.add("a2", together * VECTOR_BYTES)
        k.put("sub a2, a2, t3")
        k.put("addi s1, s1, 1")


def _positions(
    k: Kernel, operation: ElementwiseProduct, columns: Columns, group: _Group, count: int
) -> None:
    """Write the loop over `count` positions, such as pixels; a pass multiplies several of them."""
    second = _LOADED[1][: columns.registers]
    columns.load(k, second, "a1", 0)
    group.widen_second(k, second)
    k.block("mv a0, a3", "mv a2, a4")
    sets = _register_sets(operation, group, columns)
    passes, rest = divmod(count, len(sets))

    def load(number: int) -> None:
        columns.load(k, sets[number].loaded, "a0", number * columns.pitch)

    def compute(number: int, *, reload: bool) -> None:
        some = _Group(operation, sets[number].quarters)
        some.write(k, [sets[number].loaded], lambda: load(number) if reload else None, [])
        columns.store(k, some.rounding.results, "a2", number * columns.pitch)

    for number in range(rest):
        load(number)
    for number in range(rest):
        compute(number, reload=False)
    if not passes:
        return
    if rest:
        k.add("a0", rest * columns.pitch)
        k.add("a2", rest * columns.pitch)
    step = len(sets) * columns.pitch
    for number in range(len(sets)):
        load(number)
    k.add("a0", step)
    what = "a position" if len(sets) == 1 else f"{len(sets)} positions"
    with k.loop(passes - 1, "a0", step, _END, what):
        for number in range(len(sets)):
            compute(number, reload=True)
        k.add("a0", step)
        k.add("a2", step)
    for number in range(len(sets)):
        compute(number, reload=False)


@dataclass(frozen=True)
class _Registers:
    """The vector registers for the channels of one position, such as a pixel.

    `loaded` are those into which the group is loaded, `quarters` the four to which its elements are
    widened. If 16 bits are enough, two registers are needed, and each is in `quarters` twice.
    """

    loaded: tuple[str, ...]
    quarters: tuple[str, ...]


def _register_sets(
    operation: ElementwiseProduct, group: _Group, columns: Columns
) -> list[_Registers]:
    """Return a set of registers for each position that one pass of the loop can compute.

    There are as many sets as the free registers allow. A set has registers for a loaded group of
    `columns`, and for the widened numbers of the group.
    """
    halves = operation.dtype == "int8" and _halves(group.form)
    taken = {*(SECOND[::2] if operation.dtype == "int8" else SECOND), SCALES[0]}
    free = [name for name in (f"vr{number}" for number in range(16)) if name not in taken]
    size = columns.registers + (2 if halves else 4)
    sets = []
    for first in range(0, len(free) - size + 1, size):
        loaded, quarters = (
            free[first : first + columns.registers],
            free[first:][columns.registers :],
        )
        if halves:  # only the first and the third quarter are used
            quarters = [quarters[0], quarters[0], quarters[1], quarters[1]]
        sets.append(_Registers(tuple(loaded), tuple(quarters[:4])))
    return sets


class _Group:
    """Writes the arithmetic of an operation on a group of 16 elements.

    `quarters` are the four registers to which the elements are widened.
    """

    def __init__(self, operation: Scaled, quarters: tuple[str, ...] = FIRST) -> None:
        self.operation = operation
        self.quarters = quarters
        self.form = fixed_point(operation)
        self.scales: tuple[int | float, ...] = (
            self.form.multipliers
            if self.form
            else operation.scales
            if isinstance(operation, Sum)
            else (operation.scale,)
        )
        clip = None if isinstance(operation, ElementwiseProduct) else operation.clip
        shift = self.form.shift if self.form else 0
        by_channel = isinstance(operation, ElementwiseProduct) and operation.by_channel
        self.rounding = Rounding(
            operation,
            clip,
            self.form is None,
            shift,
            _halves(self.form) and not by_channel,
            quarters,
        )

    def begin(self, k: Kernel) -> None:
        """Write code that loads the scales and limits into registers; it runs once."""
        for register, scale in zip(SCALES, self.scales, strict=False):
            if scale != 1:
                splat(k, register, scale)
                if _halves(self.form):
                    k.put(f"vsplat.h {register}, t0")
        self.rounding.begin(k)

    def widen_second(self, k: Kernel, sources: Sequence[str]) -> None:
        """Write the code that widens the second input from `sources` to the registers `SECOND`."""
        if self.operation.dtype == "int8":
            widen_halves(k, sources, SECOND)
        else:
            widen_pair(k, sources, SECOND)

    def write(
        self,
        k: Kernel,
        loaded: Sequence[Sequence[str]],
        load_next: Callable[[], None],
        moves: Sequence[str],
    ) -> None:
        """Write the arithmetic on the groups in the registers `loaded`.

        `load_next` writes the loads of the next groups. `moves` are instructions that advance the
        pointers.
        """
        is_product = isinstance(self.operation, ElementwiseProduct)
        first = self.quarters
        quarters = (first, SECOND)[: len(loaded)]
        paired = self.rounding.paired
        wide = self.operation.dtype == "int16"
        for sources, targets in zip(loaded, quarters, strict=True):
            if wide or paired:
                widen_pair(k, sources, targets, "h" if wide else "b")
            else:
                widen_halves(k, sources, targets)
        load_next()
        if is_product and (wide or paired):
            each(k, "vmul.w" if wide else "vmul.h", first, SECOND)
        elif is_product:
            each(k, "vmul.h", first[::2], SECOND[::2])
        quarters = quarters[:1] if is_product else quarters
        if _halves(self.form) and not paired:
            if self.scales[0] != 1:
                each(k, "vmul.h", first[::2], SCALES[0])
            k.block(*moves)
            k.put(f"vnarrow.h {first[0]}, {first[0]}, {first[2]}, {self.rounding.shift}")
            return
        if not wide and not paired:
            for targets in quarters:
                widen_quarters(k, targets)
        if self.form is None:
            for targets in quarters:
                each(k, "vcvt.f32.w", targets)
        kind = "h" if paired else "w" if self.form else "f32"
        for targets, scale, register in zip(quarters, self.scales, SCALES, strict=False):
            if scale != 1:
                each(k, f"vmul.{kind}", targets, register)
        if len(quarters) == 2:
            each(k, f"vadd.{kind}", first, SECOND)
        self.rounding.write(k, moves)


def _halves(form: FixedPoint | None) -> bool:
    """Return whether `form` is computed in lanes of 16 bits; False if there is no form."""
    return form is not None and form.bits == 16
