"""The table of cp, the command processor: RV32IM with Zicsr, and the instructions Xcp.

cp is box 238 in the figures of seed 000. Xcp uses the RISC-V opcode custom-0 (0x0B); Macaw defines
its encodings. All instructions of Xcp have the RISC-V format R, and funct3 selects the instruction.
funct7 and the register fields that an instruction does not use are 0. fim.send has the number of an
operation in rd. Markers are the instructions that begin and end a record of the trace. A marker has
1 (begin) or 0 (end) in rd, and the number of the trace block's register group in rs1.
"""

from __future__ import annotations

from macaw.isa import common, fim_circuit, fim_moves, scalar
from macaw.isa.descriptors.cp import DESCRIPTOR
from macaw.isa.dma import TRANSFER
from macaw.isa.model import Core, Counter, Event, Fault, checked
from macaw.isa.rows import Field, Format, Instruction


def _x(funct3: int, **zeros: int) -> dict[str, int]:
    return {"opcode": scalar.CUSTOM_0, "funct3": funct3, "funct7": 0, **zeros}


# The format R, with the number of an operation in the field rd.
SEND_TYPE = Format(
    "send",
    32,
    (
        Field("funct7", "31:25"),
        Field("rs2", "24:20", scalar.REGISTER),
        Field("rs1", "19:15", scalar.REGISTER),
        Field("funct3", "14:12"),
        Field("zero", "11"),
        Field(
            "n", "10:7", fim_moves.OperationNumber(4, high_limit=len(fim_circuit.OPERATIONS) - 1)
        ),
        Field("opcode", "6:0"),
    ),
    4,
)
I, R = Instruction, scalar.R_TYPE

# fmt: off
XCP = (
    I("dma.copy",    R,           _x(0, rs2=0),       "rd, rs1",  "Start the transfer that the structure transfer at the address in rs1 describes; rd gets its ticket. Waits while the queue of the DMA is full.",                                             "rs1 memory dma",  "rd dma", "xcp", "alu_cycles, and the wait", "dma.copy a0, a1",   "ours"),
    I("dma.wait",    R,           _x(1, rd=0, rs2=0), "rs1",      "Wait for the transfer with the ticket in rs1; 0 waits for all.",                                                                                 "rs1 dma",         "",       "xcp", "alu_cycles, and the wait", "dma.wait a0",       "ours"),
    I("mem.swap",    R,           _x(2, rd=0, rs2=0), "rs1",      "Exchange the halves (ping and pong) of the memory units in the mask rs1. Waits until their rows are done.",                                      "rs1 pe unit",     "unit",   "xcp", "alu_cycles, and the wait", "mem.swap a0",       "seed 000 ¶146"),
    I("dispatch",    R,           _x(3, rd=0),        "rs1, rs2", "The rows in the mask rs1 run a packet list. The low 19 bits of rs2 are the list's byte offset in the half that feeds the row. Waits until these rows are done with an earlier list.",                   "rs1 rs2 pe unit", "pe",     "xcp", "alu_cycles, and the wait", "dispatch a0, a1",   "seed 000 ¶146"),
    I("core.start",  R,           _x(4, rd=0),        "rs1, rs2", "Start the core with the number rs1 at the entry rs2. Waits while it runs.",                                                                      "rs1 rs2 core",    "core",   "xcp", "alu_cycles, and the wait", "core.start a0, a1", "ours"),
    I("core.wait",   R,           _x(5, rd=0, rs2=0), "rs1",      "Wait until none of the cores in the mask rs1 (bit = core number) runs.",                                                                         "rs1 core",        "",       "xcp", "alu_cycles, and the wait", "core.wait a0",      "ours"),
    I("fim.send",    SEND_TYPE,   _x(7, zero=0),       "n, rs1, rs2", "Send the number of one of the ten operations to circuits of a fim island. The circuits of the banks in the mask rs2 (0: of the address's bank) do it, with the row and column of the address rs1. Waits while a block works with one of these banks.", "rs1 rs2 core", "core", "xcp", "alu_cycles from when the command comes, and the wait", "fim.send 6, a0, a1", "seed 004 ¶46"),
    *scalar.markers("xcp"),
)
# fmt: on

COUNTERS = (
    Counter("instructions", "instructions done", "instructions"),
    Counter("cycles_waiting", "cycles that waited for the DMA or another core", "cycles"),
    *common.TRAFFIC,
)

FAULTS = (
    *scalar.FAULTS,
    Fault(
        "lock violation",
        "A fim.send that writes a column of a buffer which a block has locked, or fills.",
    ),
    Fault(
        "not available",
        "A fim.send with a function, arrangement, format or slice of Rz that the island does not have, or that do not go together.",
    ),
)

CORE = checked(
    Core(
        **vars(DESCRIPTOR),
        row=0,
        unit="the ALU with multiplier and divider, which is also the whole array; an instruction that computes uses it from its start to its end",
        instructions=scalar.INSTRUCTIONS + XCP,
        pseudos=scalar.PSEUDOS,
        structures=(TRANSFER,),
        files=(scalar.REGISTERS,),
        specials=scalar.SPECIALS,
        directives=(scalar.INSN,),
        counters=COUNTERS,
        faults=FAULTS,
        events=(Event("swap", "Ping and pong of on-chip units were exchanged.", announced="swap"),),
        order=(*scalar.FAMILIES, "xcp"),
    )
)
