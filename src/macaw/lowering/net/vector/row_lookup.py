"""Describes and writes lookups of rows of a table by integers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.vector_layouts import VECTOR_BYTES
from macaw.lowering.errors import LowerError
from macaw.lowering.net.vector.kernel import Kernel
from macaw.lowering.net.vector.operations import Shape, VectorOperation
from macaw.lowering.operation import Types

_LANES = 4
_REGISTERS = tuple(f"vr{number}" for number in range(12))
_INDEX, _MOST, _PITCH, _BASE = "vr12", "vr13", "vr14", "vr15"
_ROWS = ("s2", "s3", "s4", "s5")  # addresses of four rows
_WORDS = ("t0", "t1", "t2", "t3", "a3", "a4", "a5", "a6")


@dataclass(frozen=True)
class RowLookup(VectorOperation):
    """A lookup of one row of a table for each of `count` integers.

    `table` has the bytes of the rows, each with `width` elements of type `to`. The last row is for
    all integers for which the table has no other row.
    """

    count: int
    table: bytes
    width: int
    to: str

    DTYPES: ClassVar[tuple[str, ...]] = ("int32",)

    @property
    def inputs(self) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        return ((self.count,),)

    @property
    def result(self) -> Shape:
        """The shape of the result."""
        return (self.count, self.width)

    @property
    def result_dtype(self) -> str:
        """The element type of the result."""
        return self.to

    @property
    def title(self) -> str:
        """The operation's name in reports and sources."""
        return "lookup"

    @property
    def row_bytes(self) -> int:
        """The number of bytes of a row."""
        return self.width * Types.size(self.to)

    def check(self) -> None:
        """Raise `LowerError` if `table` is empty, or no multiple of `row_bytes` bytes."""
        super().check()
        if not self.table or len(self.table) % self.row_bytes:
            raise LowerError(f"a table of {len(self.table)} bytes", f"rows of {self.row_bytes}")


def lookup_kernel(operation: RowLookup) -> Kernel:
    """Return the code of a lookup; the integers are at `vc_x0`, the result at `y`."""
    k = Kernel()
    size = operation.row_bytes
    rows = np.frombuffer(operation.table, np.uint8).reshape(-1, size)
    pitch = -(-size // 4) * 4
    padded = np.zeros((len(rows), pitch), np.uint8)
    padded[:, :size] = rows
    k.constants["vc_factors"] = [f"{word:#010x}" for word in padded.reshape(-1).view("<u4")]
    k.block("la a0, vc_x0", "la a2, y")
    for register, number in ((_MOST, len(rows) - 1), (_PITCH, pitch)):
        k.block(f"li t0, {number}", f"vsplat.w {register}, t0")
    k.block("la t0, vc_factors", f"vsplat.w {_BASE}, t0")
    four, rest = divmod(operation.count, _LANES)
    if four:
        with k.loop(four, "a0", VECTOR_BYTES, "s1", "4 integers"):
            _rows(k, _LANES, size)
            k.add("a0", VECTOR_BYTES)
    if rest:
        _rows(k, rest, size)
    return k


def _rows(k: Kernel, count: int, size: int) -> None:
    """Write code that copies rows of the table, of `size` bytes each, one after another.

    There are 4 integers in memory at the address a0; the first `count` of them are the indices of
    the rows.
    """
    k.put(f"vld {_INDEX}, 0(a0)")
    k.put(f"vminu.w {_INDEX}, {_INDEX}, {_MOST}", "others have the last row")
    k.put(f"vmul.w {_INDEX}, {_INDEX}, {_PITCH}")
    k.put(f"vadd.w {_INDEX}, {_INDEX}, {_BASE}")
    some = _ROWS[:count]
    for lane, row in enumerate(some):
        k.put(f"vext.w {row}, {_INDEX}, {lane}")
    if size % VECTOR_BYTES == 0:
        load, store, unit, registers = "vld", "vst", VECTOR_BYTES, _REGISTERS
    else:
        unit = 4 if size % 4 == 0 else 1
        load, store, registers = ("lw", "sw", _WORDS) if unit == 4 else ("lbu", "sb", _WORDS)
    each = size // unit
    together = len(registers) // each  # rows that are copied together
    if together:
        for first in range(0, count, together):
            places = [(row, unit * n) for row in some[first : first + together]
                      for n in range(each)]  # fmt: skip
            for register, (row, offset) in zip(registers, places, strict=False):
                k.put(f"{load} {register}, {offset}({row})")
            for number, register in enumerate(registers[: len(places)]):
                k.put(f"{store} {register}, {unit * number}(a2)")
            k.add("a2", unit * len(places))
        return
    blocks, rest = divmod(each, len(registers))
    for row in some:
        with k.loop(blocks, "a2", unit * len(registers), "s6"):
            _copy(k, load, store, row, registers, unit)
        if rest:
            _copy(k, load, store, row, registers[:rest], unit)


def _copy(
    k: Kernel, load: str, store: str, row: str, registers: tuple[str, ...], unit: int
) -> None:
    """Write code that copies `unit` bytes of a row through each of `registers`.

    The register `row` points to the row, and a2 to the result; the code advances both. `load` and
    `store` are the instructions that move `unit` bytes.
    """
    for number, register in enumerate(registers):
        k.put(f"{load} {register}, {unit * number}({row})")
    for number, register in enumerate(registers):
        k.put(f"{store} {register}, {unit * number}(a2)")
    k.add(row, unit * len(registers))
    k.add("a2", unit * len(registers))
