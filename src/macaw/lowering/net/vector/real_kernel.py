"""Writes functions of real numbers as code of the SIMD core vc.

One iteration computes 16 elements. Each variable takes four registers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from macaw.isa.vector_layouts import VECTOR_BYTES
from macaw.lowering.net.vector.arithmetic import (
    each,
    widen_halves,
    widen_pair,
    widen_quarters,
)
from macaw.lowering.net.vector.columns import GROUP
from macaw.lowering.net.vector.kernel import Kernel
from macaw.lowering.net.vector.operations import elements
from macaw.lowering.net.vector.real_function import RealFunction
from macaw.lowering.onnx.formulas import Step
from macaw.lowering.operation import Types

_VARIABLES = tuple(tuple(f"vr{4 * n + quarter}" for quarter in range(4)) for n in range(3))
_CONSTANTS = ("vr12", "vr13")  # registers for the constants of a step
_MASK = "vr14"
_SPARE = "vr15"
_POINTERS, _RESULT, _END = ("a0", "a1"), "a2", "t6"
# Scalar registers for constants, and for scales and zero points of the inputs and the result.
_NUMBERS = (*(f"s{number}" for number in range(12)), "a3", "a4", "a5", "a6", "a7", "t2", "t3", "t4")


def function_kernel(operation: RealFunction) -> Kernel:
    """Return the code of a function. Its inputs are `vc_x0` and `vc_x1`, its result is `y`."""
    k = Kernel()
    _Function(k, operation).write()
    return k


class _Function:
    """Writes the code for a function."""

    def __init__(self, k: Kernel, operation: RealFunction) -> None:
        self.k, self.operation = k, operation
        self.step = GROUP * Types.size(operation.dtype)
        self.numbers: dict[tuple[str, int], str] = {}

    def write(self) -> None:
        """Write the code: first the body, because it decides which constants need registers."""
        body = Kernel()
        self.k, outer = body, self.k
        self._body()
        self.k = outer
        pointers = _POINTERS[: self.operation.count]
        for number, pointer in enumerate(pointers):
            outer.put(f"la {pointer}, vc_x{number}")
        outer.put(f"la {_RESULT}, y")
        for (letter, bits), register in self.numbers.items():
            number = int(np.uint32(bits).view(np.int32)) if letter == "w" else bits
            outer.put(f"li {register}, {number}")
        count = -(-elements(self.operation.shape) // GROUP)
        with outer.loop(count, _POINTERS[0], self.step, _END, "16 elements"):
            for item in body.items:
                outer.append(item)

    def _splat(self, register: str, number: int | float, letter: str = "w") -> str:
        """Write code that puts a number into all lanes of a register; return the register.

        `letter` is the size of a lane: "w" for 32 bits, "h" for 16.
        """
        if isinstance(number, float):
            number = int(np.float32(number).view(np.uint32))
        key = letter, number & 0xFFFFFFFF if letter == "w" else number
        if key not in self.numbers:
            self.numbers[key] = _NUMBERS[len(self.numbers)]
        self.k.put(f"vsplat.{letter} {register}, {self.numbers[key]}")
        return register

    def _body(self) -> None:
        operation = self.operation
        for pointer, variable in zip(_POINTERS[: operation.count], _VARIABLES, strict=False):
            self._load(pointer, variable)
            self.k.put(f"addi {pointer}, {pointer}, {self.step}")
        for step in operation.steps:
            self._step(step)
        results: Sequence[str] = _VARIABLES[0]
        if operation.to != "float32":
            results = self._round(_VARIABLES[0])
        for number, register in enumerate(results):
            self.k.put(f"vst {register}, {VECTOR_BYTES * number}({_RESULT})")
        self.k.put(f"addi {_RESULT}, {_RESULT}, {GROUP * Types.size(operation.to)}")

    def _load(self, pointer: str, variable: Sequence[str]) -> None:
        """Write code that loads 16 elements at `pointer`, and converts them to binary32.

        `variable` are the four registers for the results.
        """
        k, operation = self.k, self.operation
        loaded = variable if operation.dtype == "float32" else _CONSTANTS
        count = self.step // VECTOR_BYTES
        for number, register in enumerate(loaded[:count]):
            k.put(f"vld {register}, {VECTOR_BYTES * number}({pointer})")
        if operation.dtype == "float32":
            return
        if operation.dtype == "int8":
            widen_halves(k, loaded, variable)
            if operation.zero:
                each(k, "vsub.h", variable[::2], self._splat(_SPARE, operation.zero, "h"))
            widen_quarters(k, variable)
        else:
            widen_pair(k, loaded, variable)
            if operation.zero:
                each(k, "vsub.w", variable, self._splat(_SPARE, operation.zero))
        each(k, "vcvt.f32.w", variable)
        if operation.scale != 1:
            each(k, "vmul.f32", variable, self._splat(_SPARE, float(operation.scale)))

    def _step(self, step: Step) -> None:
        k, target = self.k, _VARIABLES[step.target]
        spare = list(_CONSTANTS)
        operands = [
            [self._splat(spare.pop(0), item)] * 4 if isinstance(item, float) else _VARIABLES[item]
            for item in step.operands
        ]
        if step.operation == "select":
            zero = self._splat(_CONSTANTS[1], 0.0)
            for quarter, (a, b, c) in enumerate(zip(*operands, strict=True)):
                mask = (_MASK, _SPARE)[quarter % 2]
                k.put(f"vclt.f32 {mask}, {a}, {zero}")
                k.put(f"vsel {target[quarter]}, {b}, {c}, {mask}")
            return
        for result, *sources in zip(target, *operands, strict=True):
            k.put(f"v{step.operation}.f32 {result}, {', '.join(sources)}")

    def _round(self, quarters: Sequence[str]) -> Sequence[str]:
        """Write code that converts the numbers in the registers `quarters` to integers.

        The code divides by `divisor`, rounds, adds the zero point and saturates.

        Return the registers with the results.
        """
        k, operation = self.k, self.operation
        if operation.divisor != 1:
            each(k, "vdiv.f32", quarters, self._splat(_CONSTANTS[0], float(operation.divisor)))
        zero = self._splat(_CONSTANTS[0], 0.0)
        for number, quarter in enumerate(quarters):
            mask = (_MASK, _SPARE)[number % 2]
            k.put(f"vceq.f32 {mask}, {quarter}, {quarter}")
            k.put(f"vsel {quarter}, {quarter}, {zero}, {mask}")
        each(k, "vcvt.w.f32", quarters)
        if operation.to == "int16":
            self._shift(quarters, "w")
        for low, high in ((0, 1), (2, 3)):
            k.put(f"vnarrow.w {quarters[low]}, {quarters[low]}, {quarters[high]}, 0")
        if operation.to == "int16":
            return quarters[::2]
        self._shift(quarters[::2], "h")
        k.put(f"vnarrow.h {quarters[0]}, {quarters[0]}, {quarters[2]}, 0")
        return quarters[:1]

    def _shift(self, registers: Sequence[str], letter: str) -> None:
        """Write code that adds the zero point to the numbers in `registers`.

        The code first limits the numbers, so that no sum overflows. `letter` is the size of a lane:
        "w" for 32 bits, "h" for 16.
        """
        zero = self.operation.result_zero
        if not zero:
            return
        info = np.iinfo(self.operation.to)
        each(self.k, f"vmax.{letter}", registers, self._splat(_MASK, int(info.min) - zero, letter))
        each(self.k, f"vmin.{letter}", registers, self._splat(_SPARE, int(info.max) - zero, letter))
        each(self.k, f"vadd.{letter}", registers, self._splat(_CONSTANTS[0], zero, letter))
