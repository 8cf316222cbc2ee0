"""The meter of vc: the operations of an instruction follow from its elements and lanes."""

from __future__ import annotations

from macaw.emu.core import Core
from macaw.emu.meter import Meter
from macaw.emu.metered_memory import MeteredMemory
from macaw.emu.scalar.meter import ScalarMeter, Work, scalar_work
from macaw.emu.vector.core import VectorCore
from macaw.isa.activities import adding, computing, multiplying
from macaw.isa.rows import Instruction
from macaw.isa.vector import GROUP, OPERATIONS, PMAC_FORMATS
from macaw.isa.vector_layouts import ELEMENTS, VECTOR_BYTES

_TYPES = {"b": "int8", "h": "int16", "w": "int32", "d": "int64", "f16": "fp16", "f32": "fp32"}
_WIDER = {"b": "int16", "h": "int32", "w": "int64", "f16": "fp32", "f32": "fp32"}
_INTEGERS = {8: "int8", 16: "int16", 32: "int32"}


def vector_work(row: Instruction) -> Work:
    """Return the operations of an instruction of vc; none for accesses to memory."""
    operation = OPERATIONS.get(row.mnemonic)
    if operation is None:
        return scalar_work(row)
    if not row.arithmetic:
        return ()
    name, element = operation
    if name == "pmac_gr":
        return (("mul_int8", GROUP), ("add_int32", GROUP))
    if name == "pmac":
        return _pmac(element)
    if "lane" in row.format.by_name:
        return (("logic", 1),)
    lanes = 8 * VECTOR_BYTES // ELEMENTS[element].bits
    if row.family == "vector sum":
        return ((adding(_WIDER[element]), lanes - 1),)
    if not element:
        return ((row.arithmetic, VECTOR_BYTES // 4),)
    return ((computing(row.arithmetic, _TYPES[element]), lanes),)


def _pmac(name: str) -> Work:
    """Return the operations of a pmac of the format `name`: its products, and as many additions.

    One addition per result adds the old sum. It is counted even for a pmac that adds to no old sum.
    """
    form = PMAC_FORMATS[name]
    if name[0] == "f":
        return ((multiplying(f"fp{form.bits}"), form.lanes), ("add_fp32", form.lanes))
    wide = "int32" if form.bits == 8 else "int64"
    return ((multiplying(_INTEGERS[form.bits]), form.lanes), (adding(wide), form.lanes))


class VectorMeter(ScalarMeter):
    """Counts the executed instructions and, at the end of the run, their operations."""

    core: VectorCore

    def begins(self) -> bool:
        return self.core.waiting is None

    def work(self, row: Instruction) -> Work:
        return vector_work(row)

    @property
    def peak_operations(self) -> float:
        return 2 * VECTOR_BYTES / self.core.divider  # products of bytes, and their additions

    @property
    def access_bytes(self) -> float:
        return VECTOR_BYTES / self.core.divider


def make(core: Core, memory: MeteredMemory) -> Meter:
    """Return a new meter of vc."""
    assert isinstance(core, VectorCore)
    return VectorMeter(core, memory)
