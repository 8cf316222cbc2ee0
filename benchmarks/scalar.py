"""cp's instructions a second beside py65 (a 6502 in Python) and Unicorn (QEMU's translator)."""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import TYPE_CHECKING

import macaw
from asm.source import Source
from benchmarks.measure import ROUNDS, table, target, thousands, timed
from emu.device import Device

if TYPE_CHECKING:
    from py65.devices.mpu6502 import MPU

PASSES = 400  # over an array of 256 bytes

# The sum of an array and its reversal in place, again and again: loads, stores, arithmetic, branches.
_CP = f"""
        .core   cp
_start: li      s0, {PASSES}
pass:   la      a0, array
        addi    a1, a0, 255
        li      a2, 0
loop:   lbu     t0, 0(a0)
        lbu     t1, 0(a1)
        add     a2, a2, t0
        add     a2, a2, t1
        xori    t0, t0, 0x55
        sb      t1, 0(a0)
        sb      t0, 0(a1)
        addi    a0, a0, 1
        addi    a1, a1, -1
        bltu    a0, a1, loop
        addi    s0, s0, -1
        bnez    s0, pass
        mv      a0, a2
        li      a7, 93
        ecall
        .section .data.cp
        {{align}}
array:  .space  256, 7
"""
CP = _CP.format(align=".align  12")  # code and data in pages of their own
ONE_PAGE = _CP.format(align="")
# The same on a 6502 as bytes: X up, Y down, the sum in zero page $10, passes in $11 and $12.
PY65_PASSES = 60
# fmt: off
PY65 = bytes((
    0xA2, 0x00,              # pass: LDX #0
    0xA0, 0xFF,              #       LDY #255
    0x18,                    # loop: CLC
    0xBD, 0x00, 0x20,        #       LDA $2000,X
    0x65, 0x10,              #       ADC $10
    0x85, 0x10,              #       STA $10
    0xB9, 0x00, 0x20,        #       LDA $2000,Y
    0x48,                    #       PHA
    0xBD, 0x00, 0x20,        #       LDA $2000,X
    0x49, 0x55,              #       EOR #$55
    0x99, 0x00, 0x20,        #       STA $2000,Y
    0x68,                    #       PLA
    0x9D, 0x00, 0x20,        #       STA $2000,X
    0x88,                    #       DEY
    0xE8,                    #       INX
    0xE0, 0x80,              #       CPX #128
    0xD0, 0xE2,              #       BNE loop
    0xC6, 0x11,              #       DEC $11
    0xD0, 0xDA,              #       BNE pass
    0x00,                    #       BRK
))
# fmt: on


def cp_rate(text: str) -> float:
    """Instructions a second of cp on the preset `base`, nothing traced."""
    program = macaw.assemble(Source(text, "bench.s"), device="base")
    rates = []
    for _ in range(ROUNDS):
        device = Device(macaw.configuration("base"))
        device.load(program)
        seconds = timed(device.run)
        rates.append(device.counters()["cp"]["instructions"] / seconds)
    return median(rates)


def py65_rate() -> float | None:
    """Instructions a second of py65; None if it is not here."""
    try:
        from py65.devices.mpu6502 import MPU
    except ImportError:
        return None
    rates = []
    for _ in range(ROUNDS):
        mpu = MPU()
        mpu.memory[0x1000 : 0x1000 + len(PY65)] = list(PY65)
        mpu.memory[0x11] = PY65_PASSES
        mpu.pc = 0x1000
        counted: list[int] = []
        seconds = timed(partial(_run_py65, mpu, counted))
        assert not mpu.memory[0x11]
        rates.append(counted[0] / seconds)
    return median(rates)


def _run_py65(mpu: MPU, counted: list[int]) -> None:
    """Step until the next instruction is BRK; adds the number of steps."""
    step, memory, steps = mpu.step, mpu.memory, 0
    while memory[mpu.pc]:
        step()
        steps += 1
    counted.append(steps)


def unicorn_rate() -> float | None:
    """Instructions a second of Unicorn on cp's program; None if it is not here."""
    try:
        from unicorn import UC_ARCH_RISCV, UC_MODE_RISCV32, Uc
        from unicorn.riscv_const import UC_RISCV_REG_A0
    except ImportError:
        return None
    program = macaw.assemble(Source(CP, "bench.s"), device="base")
    code, data = program.section(".text.cp"), program.section(".data.cp")
    instructions = PASSES * (4 + 10 * 128 + 2)
    rates = []
    for _ in range(ROUNDS):
        machine = Uc(UC_ARCH_RISCV, UC_MODE_RISCV32)
        machine.mem_map(code.address & ~0xFFF, 1 << 16)
        machine.mem_write(code.address, code.data)
        machine.mem_write(data.address, data.data)
        seconds = timed(partial(machine.emu_start, program.entry, code.end - 4))  # the ecall
        assert machine.reg_read(UC_RISCV_REG_A0)
        rates.append(instructions / seconds)
    return median(rates)


def main() -> None:
    """Measure and print."""
    rates = {
        "macaw, cp on base": cp_rate(CP),
        "the same, data written in the page of the code": cp_rate(ONE_PAGE),
        "py65": py65_rate(),
        "Unicorn": unicorn_rate(),
    }
    print(
        "### cp\n\nThousands of instructions a second, nothing traced; each on its own machine's code.\n"
    )
    rows = [[name, thousands(rate)] for name, rate in rates.items() if rate is not None]
    print(table(["", "thousand instructions/s"], rows))
    cp, py65 = rates["macaw, cp on base"], rates["py65"]
    if cp is not None and py65 is not None:
        print(target(f"{cp / py65:.2f} times py65's rate, at least 1.30", cp >= 1.3 * py65))


if __name__ == "__main__":
    main()
