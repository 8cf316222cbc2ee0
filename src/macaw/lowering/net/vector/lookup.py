"""Writes lookups in a table of 256 entries as code of the SIMD core vc.

vc has no instruction that loads each lane from an address of its own. So elements pass through
general registers, 16 in each pass of the loop. The table is in cp's local memory, which needs no
wait.
"""

from __future__ import annotations

import numpy as np

from macaw.lowering.net.vector.kernel import Kernel
from macaw.lowering.net.vector.operations import Table, elements

_REGISTERS = (*(f"s{number}" for number in range(12)), "a3", "a4", "a5", "a6")


def table_kernel(operation: Table) -> Kernel:
    """Return the code of a lookup; the input is at `vc_x0`, the result at `y`.

    After the end of the tensors, the code reads and writes up to the next multiple of 16 bytes. It
    also reads the 16 bytes after that multiple.
    """
    k = Kernel()
    entries = np.roll(np.asarray(operation.entries, np.int8), -128)  # indexed by the unsigned byte
    k.tables["vc_table"] = [f"{word:#010x}" for word in entries.view("<u4")]
    k.block("la a0, vc_x0", "la a1, vc_table", "la a2, y")
    step = len(_REGISTERS)
    for place, register in enumerate(_REGISTERS):
        k.put(f"lbu {register}, {place}(a0)")
    with k.loop(-(-elements(operation.shape) // step), "a0", step, "t6", f"{step} elements"):
        for register in _REGISTERS:
            k.put(f"add {register}, {register}, a1")
        for register in _REGISTERS:
            k.put(f"lbu {register}, 0({register})", local=True)
        k.put(f"addi a0, a0, {step}")
        for place, register in enumerate(_REGISTERS):
            k.put(f"sb {register}, {place}(a2)")
            k.put(f"lbu {register}, {place}(a0)")
        k.put(f"addi a2, a2, {step}")
    return k
