"""What each row of Xcp (`macaw.isa.cp.XCP`) does; the function has the mnemonic's name.

Each asks something of the device. What cannot be done yet waits: the core's
`wait` is called, and the instruction is tried again when one of the cores in the mask has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.windows import WindowNotReady

if TYPE_CHECKING:
    from macaw.emu.cp.processor import Processor


def dma_copy(cp: Processor, rd: int, rs1: int) -> None:
    copier = cp.copier
    cp.ask()
    ticket = copier.submit(cp.time, cp.x[rs1], cp)
    if ticket is None:
        cp.wait("room in the queue of the dma", 1 << copier.number)
    else:
        cp.x[rd] = ticket & 0xFFFF_FFFF


def dma_wait(cp: Processor, rs1: int) -> None:
    copier = cp.copier
    ticket = cp.x[rs1]
    if not copier.finished(ticket):
        what = f"transfer {ticket} of the dma" if ticket else "all transfers of the dma"
        cp.wait(what, 1 << copier.number)


def mem_swap(cp: Processor, rs1: int) -> None:
    cp.ask()
    busy = cp.device.swap(cp.x[rs1])
    if busy:
        cp.wait(f"mem.swap of the units {cp.x[rs1]:#x}", busy)


def dispatch(cp: Processor, rs1: int, rs2: int) -> None:
    cp.ask()
    busy = cp.device.dispatch(cp.x[rs1], cp.x[rs2], cp.time)
    if busy:
        cp.wait(f"dispatch to the rows {cp.x[rs1]:#x}", busy)


def core_start(cp: Processor, rs1: int, rs2: int) -> None:
    cp.ask()
    busy = cp.device.start(cp.x[rs1], cp.x[rs2], cp.time)
    if busy:
        cp.wait(f"core.start of core {cp.x[rs1]}", busy)


def fim_send(cp: Processor, n: int, rs1: int, rs2: int) -> None:
    cp.ask()
    try:
        came = cp.device.operate(n, cp.x[rs1], cp.x[rs2], cp.time)
    except WindowNotReady as later:
        cp.put_off(later)
        return
    cp.time = cp.aligned(came)


def core_wait(cp: Processor, rs1: int) -> None:
    busy = cp.device.busy(cp.x[rs1])
    if busy:
        cp.wait(f"core.wait {cp.x[rs1]:#x}", busy)
