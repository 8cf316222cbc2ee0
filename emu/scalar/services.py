"""The instructions of the families csr and system.

The function named like a mnemonic executes this instruction. It gets the core and the operands, and
takes effect at once. A function that stops the program returns the `Stop`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import ModuleType

from macaw.emu.faults import Fault, Stop
from macaw.emu.scalar import csrs
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.scalar.semantics import meaning, signed
from macaw.isa.rows import Instruction


def bind(
    rows: Iterable[Instruction], modules: Iterable[ModuleType] = ()
) -> dict[str, Callable[..., Stop | None]]:
    """Return the functions of the instructions `rows`, by mnemonic.

    Each function is from this module, or else from the first of `modules` that has it.
    """
    found = {}
    for row in rows:
        name = row.mnemonic.replace(".", "_")
        home = next(x for x in (sys.modules[__name__], *modules) if hasattr(x, name))
        found[row.mnemonic] = meaning(home, row.mnemonic)
    return found


# Csr


def csrrw(core: ScalarCore, rd: int, csr: int, rs1: int) -> None:
    old = csrs.read(core, csr)
    csrs.write(core, csr, core.x[rs1])
    core.x[rd] = old


def csrrs(core: ScalarCore, rd: int, csr: int, rs1: int) -> None:
    old = csrs.read(core, csr)
    if rs1:
        csrs.write(core, csr, old | core.x[rs1])
    core.x[rd] = old


def csrrc(core: ScalarCore, rd: int, csr: int, rs1: int) -> None:
    old = csrs.read(core, csr)
    if rs1:
        csrs.write(core, csr, old & ~core.x[rs1])
    core.x[rd] = old


def csrrwi(core: ScalarCore, rd: int, csr: int, uimm: int) -> None:
    old = csrs.read(core, csr)
    csrs.write(core, csr, uimm)
    core.x[rd] = old


def csrrsi(core: ScalarCore, rd: int, csr: int, uimm: int) -> None:
    old = csrs.read(core, csr)
    if uimm:
        csrs.write(core, csr, old | uimm)
    core.x[rd] = old


def csrrci(core: ScalarCore, rd: int, csr: int, uimm: int) -> None:
    old = csrs.read(core, csr)
    if uimm:
        csrs.write(core, csr, old & ~uimm)
    core.x[rd] = old


# System


def fence(core: ScalarCore, pred: int, succ: int) -> None:
    """Do nothing, because accesses are in program order even without a fence.

    So the operands `pred` and `succ` have no effect.
    """


def fence_tso(core: ScalarCore) -> None:
    """Do nothing, because accesses are in program order even without a fence."""


# Markers: their cost does not depend on whether a group records


def trace_begin(core: ScalarCore, g: int) -> None:
    core.mark(True, g, core.time, core.time + core.timing.alu)


def trace_end(core: ScalarCore, g: int) -> None:
    core.mark(False, g, core.time, core.time + core.timing.alu)


EXIT, WRITE = 93, 64  # numbers of Linux's system calls


def ecall(core: ScalarCore) -> Stop | None:
    a0, a1, a2, a7 = core.x[10], core.x[11], core.x[12], core.x[17]
    if a7 == EXIT:
        return core.exit(signed(a0))
    if a7 == WRITE and a0 in (1, 2):
        core.write_file(a0, a1, a2)
        core.x[10] = a2
        return None
    what = f"writes to file {signed(a0)}, not 1 or 2" if a7 == WRITE else f"asks for call {a7}"
    raise Fault(
        "unknown call",
        f"ecall {what}; a7 is {EXIT} (exit) or {WRITE} (write)",
        {"a7": a7, "a0": a0},
    )


def ebreak(core: ScalarCore) -> Stop:
    return core.breakpoint()
