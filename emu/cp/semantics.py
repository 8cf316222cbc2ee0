"""The instructions of Xcp (`macaw.isa.cp.XCP`).

The function with the name of a mnemonic executes its instruction, by a service of the device. If
the instruction cannot finish yet, the function calls the core's `wait` with a mask of cores. The
core tries the instruction again when one of these cores has changed.
"""

from __future__ import annotations

from macaw.emu.faults import Fault
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.system import Copier
from macaw.emu.windows import WindowNotReady


def _copier(cp: ScalarCore) -> Copier:
    """Return the dma, which `cp` uses. Raises `Fault` (bad mask) if the device has none."""
    if cp.device.copier is None:
        raise Fault("bad mask", "this device has no dma")
    return cp.device.copier


def dma_copy(cp: ScalarCore, rd: int, rs1: int) -> None:
    copier = _copier(cp)
    cp.ask()
    ticket = copier.submit(cp.time, cp.x[rs1], cp)
    if ticket is None:
        cp.wait("room in the queue of the dma", 1 << copier.number)
    else:
        cp.x[rd] = ticket & 0xFFFF_FFFF


def dma_wait(cp: ScalarCore, rs1: int) -> None:
    copier = _copier(cp)
    ticket = cp.x[rs1]
    if not copier.finished(ticket):
        what = f"transfer {ticket} of the dma" if ticket else "all transfers of the dma"
        cp.wait(what, 1 << copier.number)


def mem_swap(cp: ScalarCore, rs1: int) -> None:
    cp.ask()
    busy = cp.device.swap(cp.x[rs1])
    if busy:
        cp.wait(f"mem.swap of the units {cp.x[rs1]:#x}", busy)


def dispatch(cp: ScalarCore, rs1: int, rs2: int) -> None:
    cp.ask()
    busy = cp.device.dispatch(cp.x[rs1], cp.x[rs2], cp.time)
    if busy:
        cp.wait(f"dispatch to the rows {cp.x[rs1]:#x}", busy)


def core_start(cp: ScalarCore, rs1: int, rs2: int) -> None:
    cp.ask()
    busy = cp.device.start(cp.x[rs1], cp.x[rs2], cp.time)
    if busy:
        cp.wait(f"core.start of core {cp.x[rs1]}", busy)


def fim_send(cp: ScalarCore, n: int, rs1: int, rs2: int) -> None:
    cp.ask()
    try:
        command = cp.device.operate(n, cp.x[rs1], cp.x[rs2], cp.time)
    except WindowNotReady as later:
        cp.put_off(later)
        return
    cp.time = cp.aligned(command)


def core_wait(cp: ScalarCore, rs1: int) -> None:
    busy = cp.device.busy(cp.x[rs1])
    if busy:
        cp.wait(f"core.wait {cp.x[rs1]:#x}", busy)
