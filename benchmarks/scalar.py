"""Instructions a second of cp and vc, and products a second of pmac.

The peers are py65 (a 6502 in Python), tinyrv and riscv-model (RISC-V in Python) and Unicorn (QEMU's
translator).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import macaw
from benchmarks.figures import HIGHER, Effort, Figure, Skipped, ratio
from benchmarks.measure import ROUNDS, timed
from macaw.asm.source import Source
from macaw.emu.device import Device

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
# The same program on the SIMD core: its data lie in external memory, it ends for itself.
VC = (
    CP.replace(".section .data.cp", ".data")
    .replace("cp", "vc")
    .replace("mv      a0, a2", "li      a0, 0")
)
# A loop that uses registers only, with a product that takes three cycles.
VC_REGISTERS = """
        .core   vc
_start: li      s0, 100000
        li      a1, 7
loop:   mul     a0, a1, s0
        addi    a2, a2, 3
        xor     a3, a2, s0
        srli    a4, a3, 5
        add     a2, a2, a4
        add     a1, a1, a0
        addi    s0, s0, -1
        bnez    s0, loop
        li      a0, 0
        li      a7, 93
        ecall
"""
PMAC_PASSES = {"fast": 2048, "reference": 128}  # the fast engine also translates
# Dot products of 1,024 bytes in a shuffled order.
PMAC = """
        .core   vc
_start: li      s0, {passes}
pass:   la      t0, x
        la      t1, weights
        li      t2, 64
        la      t3, order
        vld     vr2, (t3)
loop:   vld     vr0, (t0)
        vld     vr1, (t1)
        pmac.{name} vr3, vr0, vr1, vr2, acc
        addi    t0, t0, 16
        addi    t1, t1, 16
        addi    t2, t2, -1
        bnez    t2, loop
        addi    s0, s0, -1
        bnez    s0, pass
        li      a0, 0
        li      a7, 93
        ecall
        .data
        .align  4
order:  .byte   3, 1, 2, 0, 7, 5, 6, 4, 3, 2, 1, 0, 5, 4, 7, 6
x:      .space  1024, 7
weights: .space 1024, 9
"""
# The loop on a 6502, with bytes: X counts up, Y down; sum in zero page $10, passes in $11 and $12.
PY65_PASSES = 60
PEER_STEPS = 100_000  # of emulators that are slow
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


def rate_of(
    text: str, core: str = "cp", counter: str = "instructions", engine: str = "fast", rounds: int = ROUNDS
) -> list[float]:  # fmt: skip
    """Return, for each round, by how much `counter` of `core` rises in a second of CPU time.

    The program `text` runs on the preset `base` without tracing.
    """
    program = macaw.assemble(Source(text, "bench.s"), device="base")
    rates = []
    for _ in range(rounds):
        device = Device(macaw.configuration("base"), engine=engine)
        device.load(program)
        seconds = timed(device.run)
        rates.append(device.counters()[core][counter] / seconds)
    return rates


def py65_rate(rounds: int = ROUNDS) -> list[float] | None:
    """Return the instructions a second of py65; None if py65 is not installed."""
    try:
        from py65.devices.mpu6502 import MPU
    except ImportError:
        return None
    rates = []
    for _ in range(rounds):
        mpu = MPU()
        mpu.memory[0x1000 : 0x1000 + len(PY65)] = list(PY65)
        mpu.memory[0x11] = PY65_PASSES
        mpu.pc = 0x1000
        counted: list[int] = []
        seconds = timed(partial(_run_py65, mpu, counted))
        assert not mpu.memory[0x11]
        rates.append(counted[0] / seconds)
    return rates


def _run_py65(mpu: MPU, counted: list[int]) -> None:
    """Step `mpu` until the next instruction is BRK; append the number of steps to `counted`."""
    step, memory, steps = mpu.step, mpu.memory, 0
    while memory[mpu.pc]:
        step()
        steps += 1
    counted.append(steps)


def unicorn_rate(rounds: int = ROUNDS) -> list[float] | None:
    """Return Unicorn's instructions a second on cp's program; None if it is not installed."""
    try:
        from unicorn import UC_ARCH_RISCV, UC_MODE_RISCV32, Uc
        from unicorn.riscv_const import UC_RISCV_REG_A0
    except ImportError:
        return None
    program = macaw.assemble(Source(CP, "bench.s"), device="base")
    code, data = program.section(".text.cp"), program.section(".data.cp")
    instructions = PASSES * (4 + 10 * 128 + 2)
    rates = []
    for _ in range(rounds):
        machine = Uc(UC_ARCH_RISCV, UC_MODE_RISCV32)
        machine.mem_map(code.address & ~0xFFF, 1 << 16)
        machine.mem_write(code.address, code.data)
        machine.mem_write(data.address, data.data)
        seconds = timed(partial(machine.emu_start, program.entry, code.end - 4))  # the ecall
        assert machine.reg_read(UC_RISCV_REG_A0)
        rates.append(instructions / seconds)
    return rates


def tinyrv_rate(rounds: int = ROUNDS) -> list[float] | None:
    """Return tinyrv's instructions a second on cp's program; None if it is not installed."""
    try:
        from tinyrv import sim
    except ImportError:
        return None
    program = macaw.assemble(Source(CP, "bench.s"), device="base")
    end = program.section(".text.cp").end - 4  # the ecall
    rates = []
    for _ in range(rounds):
        machine = sim(xlen=32)
        for section in program.sections:
            machine.copy_in(section.address, section.data)
        machine.pc = program.entry
        counted: list[int] = []
        seconds = timed(partial(_run_tinyrv, machine, end, counted))
        assert counted[0] == PEER_STEPS
        assert machine.x[8] < PASSES
        rates.append(counted[0] / seconds)
    return rates


def _run_tinyrv(machine: Any, end: int, counted: list[int]) -> None:
    """Step `machine` to `end`, at most `PEER_STEPS` times; append the number to `counted`."""
    step, steps = machine.step, 0
    while machine.pc != end and steps < PEER_STEPS:
        step(trace=False)
        steps += 1
    counted.append(steps)


def riscv_model_rate(rounds: int = ROUNDS) -> list[float] | None:
    """Return riscv-model's instructions a second on cp's program; None if it is not installed."""
    try:
        from riscvmodel.code import decode
        from riscvmodel.model import Model
        from riscvmodel.variant import RV32IM
    except ImportError:
        return None
    program = macaw.assemble(Source(CP, "bench.s"), device="base")
    text, data = program.section(".text.cp"), program.section(".data.cp")
    words = [int.from_bytes(text.data[at : at + 4], "little") for at in range(0, text.size - 4, 4)]
    code = {text.address + 4 * place: decode(word) for place, word in enumerate(words)}
    rates = []
    for _ in range(rounds):
        model = Model(RV32IM)
        for place, byte in enumerate(data.data):
            model.state.memory.sb(data.address + place, byte)
        model.state.memory.commit()
        model.reset(pc=program.entry)
        counted: list[int] = []
        seconds = timed(partial(_run_model, model, code, counted))
        assert counted[0] == PEER_STEPS
        assert int(model.state.intreg[8]) < PASSES
        rates.append(counted[0] / seconds)
    return rates


def _run_model(model: Any, code: dict[int, Any], counted: list[int]) -> None:
    """Issue the decoded instructions `code` to `model`, at most `PEER_STEPS`.

    The function appends their number to `counted`.
    """
    issue, state, steps = model.issue, model.state, 0
    while steps < PEER_STEPS:
        found = code.get(int(state.pc))
        if found is None:
            break
        issue(found)
        steps += 1
    counted.append(steps)


FORMATS = ("u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32")
LOOP = "macaw, cp on base"
VC_LOOP = "macaw, vc on base, the same loop"
COLUMN = "thousand instructions/s"


def measure(effort: Effort) -> Iterator[Figure | Skipped]:
    """Yield the rates of cp and vc, of the peers, and of the products of pmac."""
    rounds = effort.rounds(ROUNDS)
    engines = {"fast": "", "reference": ", reference engine"}
    rates: dict[str, list[float]] = {}
    for engine, said in engines.items():
        for name, text, core in (
            (LOOP, CP, "cp"),
            ("the same, data in the page of the code", ONE_PAGE, "cp"),
            (VC_LOOP, VC, "vc"),
            ("macaw, vc, registers alone", VC_REGISTERS, "vc"),
        ):
            if effort.small:
                text = text.replace(f"s0, {PASSES}", "s0, 4").replace("100000", "100")
            rates[name + said] = rate_of(text, core, engine=engine, rounds=rounds)
    peers = {
        "py65 (a 6502)": py65_rate, "tinyrv": tinyrv_rate, "riscv-model": riscv_model_rate,
        "Unicorn": unicorn_rate,
    }  # fmt: skip
    for name, measured in peers.items():
        found = measured(rounds)
        if found is None:
            yield Skipped(name, "it is not installed")
        else:
            rates[name] = found
    for name, values in rates.items():
        yield Figure(name, COLUMN, tuple(x / 1000 for x in values), HIGHER)
    for peer, column in (("Unicorn", "of Unicorn's rate"), ("py65 (a 6502)", "of py65's rate")):
        for name in (LOOP, VC_LOOP) if peer in rates else ():
            yield ratio(name, column, rates[name], rates[peer], HIGHER, peer)
    for name in FORMATS[:1] if effort.small else FORMATS:
        for engine in engines:
            text = PMAC.format(name=name, passes=1 if effort.small else PMAC_PASSES[engine])
            found = rate_of(text, "vc", "products", engine, rounds)
            yield Figure(name, engine, tuple(x / 1000 for x in found), HIGHER, table="pmac")
