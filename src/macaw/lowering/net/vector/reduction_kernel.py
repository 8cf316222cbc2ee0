"""Writes sums, means, maxima and minima along one axis as code of the SIMD core vc.

The lanes of a register have neighbouring elements along an axis that is not reduced. There are four
registers of partial results for each group of lanes. The code handles two groups at once.
"""

from __future__ import annotations

import numpy as np

from macaw.isa.vector_layouts import VECTOR_BYTES
from macaw.lowering.net.vector.arithmetic import splat
from macaw.lowering.net.vector.columns import Columns
from macaw.lowering.net.vector.kernel import Kernel
from macaw.lowering.net.vector.reduction import KINDS, Reduction
from macaw.lowering.onnx.operators.elementwise import STARTS

_LANES = 4
_PARTS = 4  # partial results of a group
_GROUPS = 2  # groups that are reduced at once
_PART, _RESULT, _GROUP, _GROUP_RESULT, _ROW = "a0", "a2", "a3", "a5", "a1"
_PITCH, _FIRST = "s5", "s6"


def reduction_kernel(operation: Reduction) -> Kernel:
    """Return the code of a reduction; the input is at `vc_x0`, the result at `y`."""
    k = Kernel()
    _Reduction(k, operation).write()
    return k


class _Reduction:
    """Writes the code of a reduction."""

    def __init__(self, k: Kernel, operation: Reduction) -> None:
        self.k, self.kind = k, operation.kind
        self.parts, self.length, lanes = operation.shape
        self.lanes = Columns(lanes, "float32", _LANES)
        self.pitch = 4 * lanes

    def write(self) -> None:
        """Write the code: a loop over the parts, and one over the groups of a part."""
        k = self.k
        self.lanes.begin(k)
        k.block(f"la {_PART}, vc_x0", f"la {_RESULT}, y", f"li {_PITCH}, {self.pitch}")
        start = int(np.float32(STARTS[KINDS[self.kind]]).view(np.int32))
        k.put(f"li {_FIRST}, {start}", "what partial results start with")
        with k.loop(self.parts, _PART, self.length * self.pitch, "s1", "a part"):
            k.block(f"mv {_GROUP}, {_PART}", f"mv {_GROUP_RESULT}, {_RESULT}")
            pairs, rest = divmod(self.lanes.full_groups, _GROUPS)
            if pairs:
                step = _GROUPS * VECTOR_BYTES
                with k.loop(pairs, _GROUP_RESULT, step, "s2", f"{_GROUPS * _LANES} lanes"):
                    self._groups(_GROUPS)
                    k.add(_GROUP, step)
                    k.add(_GROUP_RESULT, step)
            if rest:
                self._groups(rest)
            if self.lanes.last is not None:
                k.block(f"mv {_GROUP}, {_PART}", f"mv {_GROUP_RESULT}, {_RESULT}")
                k.add(_GROUP, 4 * self.lanes.last)
                k.add(_GROUP_RESULT, 4 * self.lanes.last)
                self._groups(1)
            k.add(_PART, self.length * self.pitch)
            k.add(_RESULT, self.pitch)

    def _groups(self, count: int) -> None:
        """Write the code for `count` groups of lanes."""
        k = self.k
        parts = [[f"vr{_PARTS * g + n}" for n in range(_PARTS)] for g in range(count)]
        k.put(f"mv {_ROW}, {_GROUP}")
        k.block(*(f"vsplat.w {x}, {_FIRST}" for group in parts for x in group))
        times, rest = divmod(self.length, _PARTS)
        if times:
            with k.loop(times, _ROW, _PARTS * self.pitch, "s3", f"{_PARTS} elements"):
                self._elements(parts, _PARTS)
        if rest:
            self._elements(parts, rest)
        word = KINDS[self.kind]
        for number in range(1, _PARTS):
            for group in parts:
                k.put(f"v{word}.f32 {group[0]}, {group[0]}, {group[number]}")
        if self.kind == "ReduceMean":
            splat(k, "vr15", float(self.length))
            for group in parts:
                k.put(f"vdiv.f32 {group[0]}, {group[0]}, vr15")
        for number, (register, *_) in enumerate(parts):
            self.lanes.store(k, [register], _GROUP_RESULT, VECTOR_BYTES * number)

    def _elements(self, parts: list[list[str]], count: int) -> None:
        """Write code that reduces one more element into each of the first `count` partial results.

        `parts` has the registers of the partial results, by group.
        """
        k, word = self.k, KINDS[self.kind]
        loaded = [
            [f"vr{_PARTS * (_GROUPS + g) + n}" for n in range(count)] for g in range(len(parts))
        ]
        for number in range(count):
            for place, registers in enumerate(loaded):
                self.lanes.load(k, [registers[number]], _ROW, VECTOR_BYTES * place)
            k.put(f"add {_ROW}, {_ROW}, {_PITCH}")
        for number in range(count):
            for group, registers in zip(parts, loaded, strict=True):
                k.put(f"v{word}.f32 {group[number]}, {group[number]}, {registers[number]}")
