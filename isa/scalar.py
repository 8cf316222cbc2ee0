"""The instructions that cp and vc share: RV32IM with Zicsr (RISC-V unprivileged ISA).

A core with this base uses `INSTRUCTIONS`, `PSEUDOS`, `REGISTERS`, `SPECIALS` and `FAULTS` in its
table. In `cycles`, a word such as `mul_cycles` means the setting of the core that executes the
instruction: `cp.mul_cycles` for cp.
"""

from __future__ import annotations

from macaw.isa import common, trace
from macaw.isa.activities import ADD, LOGIC, MULTIPLY, SPECIAL
from macaw.isa.kinds import (
    Address,
    Hexadecimal,
    Immediate,
    Kind,
    Letters,
    Named,
    Register,
    Relative,
)
from macaw.isa.model import Directive, Fault, RegisterFile, SpecialRegister
from macaw.isa.rows import Alternative, Field, Format, Instruction, Pseudo

# fmt: off
_ABI = (
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1",  "a0",  "a1", "a2", "a3", "a4", "a5",
    "a6",   "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
)
# fmt: on
REGISTERS = RegisterFile(
    "x",
    32,
    tuple(
        (abi, f"x{i}", f"gr{i}", *(("fp",) if abi == "s0" else ())) for i, abi in enumerate(_ABI)
    ),
    "General registers; zero reads 0 and drops what is written (gr0 to gr31 of seed 002).",
    signed=True,
)

# fmt: off
FAULTS = (
    *common.FAULTS,
    Fault("unknown call", "An ecall other than exit (93) and write (64) to file 1 or 2."),
    Fault("broken chain", "A message to nnp that sets a register to a value that no chain can use."),
)

SPECIALS = (
    SpecialRegister("cycle",    0xC00, "ro", "Cycles since the start, low half."),
    SpecialRegister("time",     0xC01, "ro", "The same as cycle; time is counted in cycles."),
    SpecialRegister("instret",  0xC02, "ro", "Instructions done since the start, low half."),
    SpecialRegister("cycleh",   0xC80, "ro", "Cycles since the start, high half."),
    SpecialRegister("timeh",    0xC81, "ro", "The same as cycleh."),
    SpecialRegister("instreth", 0xC82, "ro", "Instructions done since the start, high half."),
    SpecialRegister("mhartid",  0xF14, "ro", "The number of the core."),
    *trace.csrs(),
)
# fmt: on

REGISTER = Register(REGISTERS.names, "register")
SIGNED_12 = Immediate(12, signed=True)
UPPER_20 = Hexadecimal(20)
SHIFT_5 = Immediate(5)
UNSIGNED_5 = Immediate(5)
CSR = Named(12, names=tuple((special.name, special.address) for special in SPECIALS), noun="CSR")
BRANCH = Relative(13, signed=True, step=2)
JUMP = Relative(21, signed=True, step=2)
# The low limits allow a 32-bit number to be written as signed or unsigned, as in GNU as.
WORD = Immediate(32, low_limit=-(1 << 31))
ADDRESS = Address(32)

# The relocation for each operator: R_RISCV_* of the RISC-V ELF specification.
LOW_OF_LOAD = (("%lo", 27), ("%pcrel_lo", 24))
LOW_OF_STORE = (("%lo", 28), ("%pcrel_lo", 25))
_UPPER = (("%hi", 26), ("%pcrel_hi", 23))
_BRANCHED_TO, _JUMPED_TO = (("", 16),), (("", 17),)

_OPCODE = Field("opcode", "6:0")
_RD = Field("rd", "11:7", REGISTER)
_FUNCT3 = Field("funct3", "14:12")
_RS1 = Field("rs1", "19:15", REGISTER)
_RS2 = Field("rs2", "24:20", REGISTER)
_FUNCT7 = Field("funct7", "31:25")

R_TYPE = Format("R", 32, (_FUNCT7, _RS2, _RS1, _FUNCT3, _RD, _OPCODE), 4)
I_TYPE = Format(
    "I",
    32,
    (
        Field("imm", "31:20", SIGNED_12, signed=True, relocations=LOW_OF_LOAD),
        _RS1,
        _FUNCT3,
        _RD,
        _OPCODE,
    ),
    4,
)
SHIFT_TYPE = Format(
    "shift", 32, (_FUNCT7, Field("shamt", "24:20", SHIFT_5), _RS1, _FUNCT3, _RD, _OPCODE), 4
)
S_TYPE = Format(
    "S",
    32,
    (
        Field("imm", "31:25=11:5 11:7=4:0", SIGNED_12, signed=True, relocations=LOW_OF_STORE),
        _RS2,
        _RS1,
        _FUNCT3,
        _OPCODE,
    ),
    4,
)
B_TYPE = Format(
    "B",
    32,
    (
        Field("target", "31=12 30:25=10:5 11:8=4:1 7=11", BRANCH, True, _BRANCHED_TO),
        _RS2,
        _RS1,
        _FUNCT3,
        _OPCODE,
    ),
    4,
)
U_TYPE = Format("U", 32, (Field("imm", "31:12", UPPER_20, relocations=_UPPER), _RD, _OPCODE), 4)
J_TYPE = Format(
    "J",
    32,
    (Field("target", "31=20 30:21=10:1 20=11 19:12=19:12", JUMP, True, _JUMPED_TO), _RD, _OPCODE),
    4,
)
FENCE_TYPE = Format(
    "fence",
    32,
    (
        Field("fm", "31:28"),
        Field("pred", "27:24", Letters("iorw")),
        Field("succ", "23:20", Letters("iorw")),
        Field("rs1", "19:15"),
        _FUNCT3,
        Field("rd", "11:7"),
        _OPCODE,
    ),
    4,
)
CSR_TYPE = Format("csr", 32, (Field("csr", "31:20", CSR), _RS1, _FUNCT3, _RD, _OPCODE), 4)
CSRI_TYPE = Format(
    "csri",
    32,
    (Field("csr", "31:20", CSR), Field("uimm", "19:15", UNSIGNED_5), _FUNCT3, _RD, _OPCODE),
    4,
)
SYSTEM_TYPE = Format("system", 32, (Field("word", "31:7"), _OPCODE), 4)


def _r(opcode: int, funct3: int, funct7: int) -> dict[str, int]:
    return {"opcode": opcode, "funct3": funct3, "funct7": funct7}


def _i(opcode: int, funct3: int) -> dict[str, int]:
    return {"opcode": opcode, "funct3": funct3}


def _fence(fm: int, **more: int) -> dict[str, int]:
    return {"opcode": 0x0F, "funct3": 0, "fm": fm, "rs1": 0, "rd": 0, **more}


I = Instruction
R, S, B, U, J = R_TYPE, S_TYPE, B_TYPE, U_TYPE, J_TYPE
_BRANCHED = "alu_cycles; branch_taken_cycles if taken"
_LOADED = "local_cycles from local memory, from other memories until the data arrive"
_STORED = "1 to local memory, to other memories until the memory accepts the data"

# fmt: off
INSTRUCTIONS = (
    # mnemonic, format, fixed fields, syntax, meaning, reads, writes, family, cycles, example, source, flow, arithmetic
    I("add",        R,           _r(0x33, 0, 0x00),              "rd, rs1, rs2",     "Add; the carry is dropped.",                                                              "rs1 rs2",             "rd",        "register",  "alu_cycles", "add a0, a1, a2",      "RV32I", arithmetic=ADD),
    I("sub",        R,           _r(0x33, 0, 0x20),              "rd, rs1, rs2",     "Subtract rs2 from rs1; the borrow is dropped.",                                           "rs1 rs2",             "rd",        "register",  "alu_cycles", "sub a0, a1, a2",      "RV32I", arithmetic=ADD),
    I("sll",        R,           _r(0x33, 1, 0x00),              "rd, rs1, rs2",     "Shift left by the low 5 bits of rs2.",                                                    "rs1 rs2",             "rd",        "register",  "alu_cycles", "sll a0, a1, a2",      "RV32I", arithmetic=LOGIC),
    I("slt",        R,           _r(0x33, 2, 0x00),              "rd, rs1, rs2",     "1 if rs1 is less than rs2, both signed, else 0.",                                         "rs1 rs2",             "rd",        "register",  "alu_cycles", "slt a0, a1, a2",      "RV32I", arithmetic=ADD),
    I("sltu",       R,           _r(0x33, 3, 0x00),              "rd, rs1, rs2",     "1 if rs1 is less than rs2, both unsigned, else 0.",                                       "rs1 rs2",             "rd",        "register",  "alu_cycles", "sltu a0, a1, a2",     "RV32I", arithmetic=ADD),
    I("xor",        R,           _r(0x33, 4, 0x00),              "rd, rs1, rs2",     "Exclusive or, bit by bit.",                                                               "rs1 rs2",             "rd",        "register",  "alu_cycles", "xor a0, a1, a2",      "RV32I", arithmetic=LOGIC),
    I("srl",        R,           _r(0x33, 5, 0x00),              "rd, rs1, rs2",     "Shift right by the low 5 bits of rs2, zeros coming in.",                                  "rs1 rs2",             "rd",        "register",  "alu_cycles", "srl a0, a1, a2",      "RV32I", arithmetic=LOGIC),
    I("sra",        R,           _r(0x33, 5, 0x20),              "rd, rs1, rs2",     "Shift right by the low 5 bits of rs2, copies of the sign coming in.",                     "rs1 rs2",             "rd",        "register",  "alu_cycles", "sra a0, a1, a2",      "RV32I", arithmetic=LOGIC),
    I("or",         R,           _r(0x33, 6, 0x00),              "rd, rs1, rs2",     "Or, bit by bit.",                                                                         "rs1 rs2",             "rd",        "register",  "alu_cycles", "or a0, a1, a2",       "RV32I", arithmetic=LOGIC),
    I("and",        R,           _r(0x33, 7, 0x00),              "rd, rs1, rs2",     "And, bit by bit.",                                                                        "rs1 rs2",             "rd",        "register",  "alu_cycles", "and a0, a1, a2",      "RV32I", arithmetic=LOGIC),

    I("addi",       I_TYPE,      _i(0x13, 0),                    "rd, rs1, imm",     "Add a constant; the carry is dropped.",                                                   "rs1",                 "rd",        "immediate", "alu_cycles", "addi a0, a1, -5",     "RV32I", arithmetic=ADD),
    I("slti",       I_TYPE,      _i(0x13, 2),                    "rd, rs1, imm",     "1 if rs1 is less than the constant, both signed, else 0.",                                "rs1",                 "rd",        "immediate", "alu_cycles", "slti a0, a1, 10",     "RV32I", arithmetic=ADD),
    I("sltiu",      I_TYPE,      _i(0x13, 3),                    "rd, rs1, imm",     "1 if rs1 is less than the sign-extended constant, both unsigned, else 0.",                "rs1",                 "rd",        "immediate", "alu_cycles", "sltiu a0, a1, 10",    "RV32I", arithmetic=ADD),
    I("xori",       I_TYPE,      _i(0x13, 4),                    "rd, rs1, imm",     "Exclusive or with a sign-extended constant.",                                             "rs1",                 "rd",        "immediate", "alu_cycles", "xori a0, a1, -1",     "RV32I", arithmetic=LOGIC),
    I("ori",        I_TYPE,      _i(0x13, 6),                    "rd, rs1, imm",     "Or with a sign-extended constant.",                                                       "rs1",                 "rd",        "immediate", "alu_cycles", "ori a0, a1, 7",       "RV32I", arithmetic=LOGIC),
    I("andi",       I_TYPE,      _i(0x13, 7),                    "rd, rs1, imm",     "And with a sign-extended constant.",                                                      "rs1",                 "rd",        "immediate", "alu_cycles", "andi a0, a1, 255",    "RV32I", arithmetic=LOGIC),
    I("slli",       SHIFT_TYPE,  _r(0x13, 1, 0x00),              "rd, rs1, shamt",   "Shift left by a constant.",                                                               "rs1",                 "rd",        "immediate", "alu_cycles", "slli a0, a1, 4",      "RV32I", arithmetic=LOGIC),
    I("srli",       SHIFT_TYPE,  _r(0x13, 5, 0x00),              "rd, rs1, shamt",   "Shift right by a constant, zeros coming in.",                                             "rs1",                 "rd",        "immediate", "alu_cycles", "srli a0, a1, 4",      "RV32I", arithmetic=LOGIC),
    I("srai",       SHIFT_TYPE,  _r(0x13, 5, 0x20),              "rd, rs1, shamt",   "Shift right by a constant, copies of the sign coming in.",                                "rs1",                 "rd",        "immediate", "alu_cycles", "srai a0, a1, 4",      "RV32I", arithmetic=LOGIC),

    I("lui",        U,           {"opcode": 0x37},               "rd, imm",          "Load the constant into the upper 20 bits, zeros below.",                                  "",                    "rd",        "upper",     "alu_cycles", "lui a0, 0x12345",     "RV32I", arithmetic=LOGIC),
    I("auipc",      U,           {"opcode": 0x17},               "rd, imm",          "Add the constant as upper 20 bits to the address of this instruction.",                   "pc",                  "rd",        "upper",     "alu_cycles", "auipc a0, 0x1",       "RV32I", arithmetic=ADD),

    I("lb",         I_TYPE,      _i(0x03, 0),                    "rd, imm(rs1)",     "Load a byte, sign-extended.",                                                             "rs1 memory",          "rd",        "load",      _LOADED,      "lb a0, 4(sp)",        "RV32I"),
    I("lh",         I_TYPE,      _i(0x03, 1),                    "rd, imm(rs1)",     "Load a halfword, sign-extended; the address is a multiple of 2.",                         "rs1 memory",          "rd",        "load",      _LOADED,      "lh a0, 4(sp)",        "RV32I"),
    I("lw",         I_TYPE,      _i(0x03, 2),                    "rd, imm(rs1)",     "Load a word; the address is a multiple of 4.",                                            "rs1 memory",          "rd",        "load",      _LOADED,      "lw a0, 4(sp)",        "RV32I"),
    I("lbu",        I_TYPE,      _i(0x03, 4),                    "rd, imm(rs1)",     "Load a byte, zero-extended.",                                                             "rs1 memory",          "rd",        "load",      _LOADED,      "lbu a0, 4(sp)",       "RV32I"),
    I("lhu",        I_TYPE,      _i(0x03, 5),                    "rd, imm(rs1)",     "Load a halfword, zero-extended; the address is a multiple of 2.",                         "rs1 memory",          "rd",        "load",      _LOADED,      "lhu a0, 4(sp)",       "RV32I"),
    I("sb",         S,           _i(0x23, 0),                    "rs2, imm(rs1)",    "Store the low byte of rs2.",                                                              "rs1 rs2",             "memory",    "store",     _STORED,      "sb a0, 4(sp)",        "RV32I"),
    I("sh",         S,           _i(0x23, 1),                    "rs2, imm(rs1)",    "Store the low halfword of rs2; the address is a multiple of 2.",                          "rs1 rs2",             "memory",    "store",     _STORED,      "sh a0, 4(sp)",        "RV32I"),
    I("sw",         S,           _i(0x23, 2),                    "rs2, imm(rs1)",    "Store rs2; the address is a multiple of 4.",                                              "rs1 rs2",             "memory",    "store",     _STORED,      "sw a0, 4(sp)",        "RV32I"),

    I("beq",        B,           _i(0x63, 0),                    "rs1, rs2, target", "Branch if rs1 and rs2 are equal.",                                                        "rs1 rs2 pc",          "pc",        "branch",    _BRANCHED,    "beq a0, a1, .+8",     "RV32I", "branch"),
    I("bne",        B,           _i(0x63, 1),                    "rs1, rs2, target", "Branch if rs1 and rs2 differ.",                                                           "rs1 rs2 pc",          "pc",        "branch",    _BRANCHED,    "bne a0, a1, .+8",     "RV32I", "branch"),
    I("blt",        B,           _i(0x63, 4),                    "rs1, rs2, target", "Branch if rs1 is less than rs2, both signed.",                                            "rs1 rs2 pc",          "pc",        "branch",    _BRANCHED,    "blt a0, a1, .+8",     "RV32I", "branch"),
    I("bge",        B,           _i(0x63, 5),                    "rs1, rs2, target", "Branch if rs1 is not less than rs2, both signed.",                                        "rs1 rs2 pc",          "pc",        "branch",    _BRANCHED,    "bge a0, a1, .+8",     "RV32I", "branch"),
    I("bltu",       B,           _i(0x63, 6),                    "rs1, rs2, target", "Branch if rs1 is less than rs2, both unsigned.",                                          "rs1 rs2 pc",          "pc",        "branch",    _BRANCHED,    "bltu a0, a1, .+8",    "RV32I", "branch"),
    I("bgeu",       B,           _i(0x63, 7),                    "rs1, rs2, target", "Branch if rs1 is not less than rs2, both unsigned.",                                      "rs1 rs2 pc",          "pc",        "branch",    _BRANCHED,    "bgeu a0, a1, .+8",    "RV32I", "branch"),
    I("jal",        J,           {"opcode": 0x6F},               "rd, target",       "Jump; rd gets the address of the next instruction.",                                      "pc",                  "rd pc",     "jump",      "branch_taken_cycles", "jal ra, .+8", "RV32I", "call"),
    I("jalr",       I_TYPE,      _i(0x67, 0),                    "rd, imm(rs1)",     "Jump to rs1 plus the constant, bit 0 cleared; rd gets the address of the next instruction.", "rs1 pc",           "rd pc",     "jump",      "branch_taken_cycles", "jalr ra, 0(a0)", "RV32I", "jump"),

    I("mul",        R,           _r(0x33, 0, 0x01),              "rd, rs1, rs2",     "The low 32 bits of the product.",                                                         "rs1 rs2",             "rd",        "multiply",  "mul_cycles", "mul a0, a1, a2",      "RV32M", arithmetic=MULTIPLY),
    I("mulh",       R,           _r(0x33, 1, 0x01),              "rd, rs1, rs2",     "The high 32 bits of the product, both signed.",                                           "rs1 rs2",             "rd",        "multiply",  "mul_cycles", "mulh a0, a1, a2",     "RV32M", arithmetic=MULTIPLY),
    I("mulhsu",     R,           _r(0x33, 2, 0x01),              "rd, rs1, rs2",     "The high 32 bits of the product, rs1 signed and rs2 unsigned.",                           "rs1 rs2",             "rd",        "multiply",  "mul_cycles", "mulhsu a0, a1, a2",   "RV32M", arithmetic=MULTIPLY),
    I("mulhu",      R,           _r(0x33, 3, 0x01),              "rd, rs1, rs2",     "The high 32 bits of the product, both unsigned.",                                         "rs1 rs2",             "rd",        "multiply",  "mul_cycles", "mulhu a0, a1, a2",    "RV32M", arithmetic=MULTIPLY),
    I("div",        R,           _r(0x33, 4, 0x01),              "rd, rs1, rs2",     "Divide, both signed, towards zero; by 0 gives -1, -2^31 by -1 gives -2^31.",              "rs1 rs2",             "rd",        "divide",    "div_cycles", "div a0, a1, a2",      "RV32M", arithmetic=SPECIAL),
    I("divu",       R,           _r(0x33, 5, 0x01),              "rd, rs1, rs2",     "Divide, both unsigned; by 0 gives 2^32 - 1.",                                             "rs1 rs2",             "rd",        "divide",    "div_cycles", "divu a0, a1, a2",     "RV32M", arithmetic=SPECIAL),
    I("rem",        R,           _r(0x33, 6, 0x01),              "rd, rs1, rs2",     "Remainder, both signed, with the sign of rs1; by 0 gives rs1, -2^31 by -1 gives 0.",      "rs1 rs2",             "rd",        "divide",    "div_cycles", "rem a0, a1, a2",      "RV32M", arithmetic=SPECIAL),
    I("remu",       R,           _r(0x33, 7, 0x01),              "rd, rs1, rs2",     "Remainder, both unsigned; by 0 gives rs1.",                                               "rs1 rs2",             "rd",        "divide",    "div_cycles", "remu a0, a1, a2",     "RV32M", arithmetic=SPECIAL),

    I("csrrw",      CSR_TYPE,    _i(0x73, 1),                    "rd, csr, rs1",     "Read a control and status register into rd and write rs1 to it.",                         "rs1 csr",             "rd csr",    "csr",       "csr_cycles", "csrrw a0, 0x7c2, a1", "Zicsr"),
    I("csrrs",      CSR_TYPE,    _i(0x73, 2),                    "rd, csr, rs1",     "Read a control and status register into rd and set the bits of rs1 in it (x0: no write).", "rs1 csr",            "rd csr",    "csr",       "csr_cycles", "csrrs a0, cycle, zero", "Zicsr"),
    I("csrrc",      CSR_TYPE,    _i(0x73, 3),                    "rd, csr, rs1",     "Read a control and status register into rd and clear the bits of rs1 in it (x0: no write).", "rs1 csr",          "rd csr",    "csr",       "csr_cycles", "csrrc a0, 0x7c2, a1", "Zicsr"),
    I("csrrwi",     CSRI_TYPE,   _i(0x73, 5),                    "rd, csr, uimm",    "Read a control and status register into rd and write a constant to it.",                  "csr",                 "rd csr",    "csr",       "csr_cycles", "csrrwi a0, 0x7c0, 1", "Zicsr"),
    I("csrrsi",     CSRI_TYPE,   _i(0x73, 6),                    "rd, csr, uimm",    "Read a control and status register into rd and set bits of it (0: no write).",            "csr",                 "rd csr",    "csr",       "csr_cycles", "csrrsi a0, 0x7c0, 1", "Zicsr"),
    I("csrrci",     CSRI_TYPE,   _i(0x73, 7),                    "rd, csr, uimm",    "Read a control and status register into rd and clear bits of it (0: no write).",          "csr",                 "rd csr",    "csr",       "csr_cycles", "csrrci a0, 0x7c0, 1", "Zicsr"),

    I("fence",      FENCE_TYPE,  _fence(0),                      "pred, succ",       "Order memory accesses (i, o, r, w). A core does its accesses in order anyway, so this does nothing.", "",                "",          "system",    "alu_cycles", "fence rw, rw",        "RV32I"),
    I("fence.tso",  FENCE_TYPE,  _fence(8, pred=3, succ=3),      "",                 "Order all memory accesses except a store before a later load. A core does its accesses in order anyway, so this does nothing.",             "",                    "",          "system",    "alu_cycles", "fence.tso",           "RV32I"),
    I("ecall",      SYSTEM_TYPE, {"opcode": 0x73, "word": 0},    "",                 "Ask the host: a7 = 93 exits with a0, a7 = 64 writes a2 bytes at a1 to file 1 or 2 (a0).", "a0 a1 a2 a7 memory",  "a0",        "system",    "alu_cycles", "ecall",               "RV32I", "stop"),
    I("ebreak",     SYSTEM_TYPE, {"opcode": 0x73, "word": 1 << 13}, "",              "Stop the run as at a breakpoint.",                                                                   "",                    "",          "system",    "alu_cycles", "ebreak",              "RV32I", "stop"),
)
# fmt: on

KINDS: dict[str, Kind] = {
    "rd": REGISTER,
    "rs": REGISTER,
    "rs1": REGISTER,
    "rs2": REGISTER,
    "rt": REGISTER,
    "imm": SIGNED_12,
    "shamt": SHIFT_5,
    "uimm": UNSIGNED_5,
    "csr": CSR,
    "number": WORD,
    "symbol": ADDRESS,
    "target": ADDRESS,
}


def _wrapped(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _is_small(value: int) -> bool:
    return -2048 <= _wrapped(value) < 2048


def _is_upper(value: int) -> bool:
    return value & 0xFFF == 0


def _p(mnemonic: str, syntax: str, lines: str, meaning: str, example: str) -> Pseudo:
    one = Alternative(tuple(line.strip() for line in lines.split(";")))
    return Pseudo(mnemonic, syntax, KINDS, (one,), meaning, example=example)


def _o(mnemonic: str, syntax: str, lines: str, meaning: str, example: str) -> Pseudo:
    """Return the row of a pseudo-instruction that overloads its mnemonic, such as `jal f`.

    `lines` has the lines of its expansion, separated by `;`. The other arguments are the fields of
    `Pseudo`.
    """
    one = Alternative(tuple(line.strip() for line in lines.split(";")))
    return Pseudo(mnemonic, syntax, KINDS, (one,), meaning, example=example, overloads=True)


# fmt: off
_PLAIN = (
    _p("nop",        "",                "addi zero, zero, 0",                                                         "Do nothing.",                                             "nop"),
    _p("la",         "rd, symbol",      "auipc {rd}, %hi({symbol} - .); addi {rd}, {rd}, %lo({symbol} - . + 4)",      "Load the address of a symbol.",                           "la a0, ."),
    _p("lla",        "rd, symbol",      "auipc {rd}, %hi({symbol} - .); addi {rd}, {rd}, %lo({symbol} - . + 4)",      "Load the address of a symbol.",                           "lla a0, ."),
    _p("mv",         "rd, rs",          "addi {rd}, {rs}, 0",                                                         "Copy a register.",                                        "mv a0, a1"),
    _p("move",       "rd, rs",          "addi {rd}, {rs}, 0",                                                         "Copy a register.",                                        "move a0, a1"),
    _p("not",        "rd, rs",          "xori {rd}, {rs}, -1",                                                        "Invert all bits.",                                        "not a0, a1"),
    _p("neg",        "rd, rs",          "sub {rd}, zero, {rs}",                                                       "Negate.",                                                 "neg a0, a1"),
    _p("seqz",       "rd, rs",          "sltiu {rd}, {rs}, 1",                                                        "1 if the register is 0, else 0.",                         "seqz a0, a1"),
    _p("snez",       "rd, rs",          "sltu {rd}, zero, {rs}",                                                      "1 if the register is not 0, else 0.",                     "snez a0, a1"),
    _p("sltz",       "rd, rs",          "slt {rd}, {rs}, zero",                                                       "1 if the register is negative, else 0.",                  "sltz a0, a1"),
    _p("sgtz",       "rd, rs",          "slt {rd}, zero, {rs}",                                                       "1 if the register is above 0, signed, else 0.",           "sgtz a0, a1"),
    _p("sgt",        "rd, rs1, rs2",    "slt {rd}, {rs2}, {rs1}",                                                     "1 if rs1 is above rs2, both signed, else 0.",             "sgt a0, a1, a2"),
    _p("sgtu",       "rd, rs1, rs2",    "sltu {rd}, {rs2}, {rs1}",                                                    "1 if rs1 is above rs2, both unsigned, else 0.",           "sgtu a0, a1, a2"),
    _p("sext.b",     "rd, rs",          "slli {rd}, {rs}, 24; srai {rd}, {rd}, 24",                                   "Sign-extend the low byte.",                               "sext.b a0, a1"),
    _p("sext.h",     "rd, rs",          "slli {rd}, {rs}, 16; srai {rd}, {rd}, 16",                                   "Sign-extend the low halfword.",                           "sext.h a0, a1"),
    _p("zext.b",     "rd, rs",          "andi {rd}, {rs}, 255",                                                       "Zero-extend the low byte.",                               "zext.b a0, a1"),
    _p("zext.h",     "rd, rs",          "slli {rd}, {rs}, 16; srli {rd}, {rd}, 16",                                   "Zero-extend the low halfword.",                           "zext.h a0, a1"),
    _p("beqz",       "rs, target",      "beq {rs}, zero, {target}",                                                   "Branch if the register is 0.",                            "beqz a0, .+8"),
    _p("bnez",       "rs, target",      "bne {rs}, zero, {target}",                                                   "Branch if the register is not 0.",                        "bnez a0, .+8"),
    _p("blez",       "rs, target",      "bge zero, {rs}, {target}",                                                   "Branch if the register is not above 0, signed.",          "blez a0, .+8"),
    _p("bgez",       "rs, target",      "bge {rs}, zero, {target}",                                                   "Branch if the register is not negative.",                 "bgez a0, .+8"),
    _p("bltz",       "rs, target",      "blt {rs}, zero, {target}",                                                   "Branch if the register is negative.",                     "bltz a0, .+8"),
    _p("bgtz",       "rs, target",      "blt zero, {rs}, {target}",                                                   "Branch if the register is above 0, signed.",              "bgtz a0, .+8"),
    _p("bgt",        "rs1, rs2, target", "blt {rs2}, {rs1}, {target}",                                                "Branch if rs1 is above rs2, both signed.",                "bgt a0, a1, .+8"),
    _p("ble",        "rs1, rs2, target", "bge {rs2}, {rs1}, {target}",                                                "Branch if rs1 is not above rs2, both signed.",            "ble a0, a1, .+8"),
    _p("bgtu",       "rs1, rs2, target", "bltu {rs2}, {rs1}, {target}",                                               "Branch if rs1 is above rs2, both unsigned.",              "bgtu a0, a1, .+8"),
    _p("bleu",       "rs1, rs2, target", "bgeu {rs2}, {rs1}, {target}",                                               "Branch if rs1 is not above rs2, both unsigned.",          "bleu a0, a1, .+8"),
    _p("j",          "target",          "jal zero, {target}",                                                         "Jump.",                                                   "j .+8"),
    _p("ret",        "",                "jalr zero, 0(ra)",                                                           "Return to the address in ra.",                            "ret"),
    _p("tail",       "target",          "auipc t1, %hi({target} - .); jalr zero, %lo({target} - . + 4)(t1)",          "Jump to any address; t1 is lost.",                        "tail .+16"),
    _p("jump",       "target, rt",      "auipc {rt}, %hi({target} - .); jalr zero, %lo({target} - . + 4)({rt})",      "Jump to any address by way of rt.",                       "jump .+16, t0"),
    _p("csrr",       "rd, csr",         "csrrs {rd}, {csr}, zero",                                                    "Read a control and status register.",                     "csrr a0, mhartid"),
    _p("csrwi",      "csr, uimm",       "csrrwi zero, {csr}, {uimm}",                                                 "Write a constant to a control and status register.",      "csrwi 0x7c0, 1"),
    _p("csrsi",      "csr, uimm",       "csrrsi zero, {csr}, {uimm}",                                                 "Set bits of a control and status register.",              "csrsi 0x7c0, 1"),
    _p("csrci",      "csr, uimm",       "csrrci zero, {csr}, {uimm}",                                                 "Clear bits of a control and status register.",            "csrci 0x7c0, 1"),
    _p("rdcycle",    "rd",              "csrrs {rd}, cycle, zero",                                                    "Read the cycles, low half.",                              "rdcycle a0"),
    _p("rdtime",     "rd",              "csrrs {rd}, time, zero",                                                     "Read the time, low half.",                                "rdtime a0"),
    _p("rdinstret",  "rd",              "csrrs {rd}, instret, zero",                                                  "Read the instructions done, low half.",                   "rdinstret a0"),
    _p("rdcycleh",   "rd",              "csrrs {rd}, cycleh, zero",                                                   "Read the cycles, high half.",                             "rdcycleh a0"),
    _p("rdtimeh",    "rd",              "csrrs {rd}, timeh, zero",                                                    "Read the time, high half.",                               "rdtimeh a0"),
    _p("rdinstreth", "rd",              "csrrs {rd}, instreth, zero",                                                 "Read the instructions done, high half.",                  "rdinstreth a0"),
    _p("scall",      "",                "ecall",                                                                      "Old name of ecall.",                                      "scall"),
    _p("sbreak",     "",                "ebreak",                                                                     "Old name of ebreak.",                                     "sbreak"),
    _p("unimp",      "",                "csrrw zero, cycle, zero",                                                    "Fault: cycle cannot be written.",                         "unimp"),
)

# A mnemonic may have several rows. The first one that fits applies; rows of registers come first.
_OVERLOADED = (
    _o("jal",        "target",          "jal ra, {target}",                                                           "Call a near address.",                                    "jal .+8"),
    _o("jalr",       "rs",              "jalr ra, 0({rs})",                                                           "Call the address in a register.",                         "jalr a0"),
    _o("jalr",       "imm(rs)",         "jalr ra, {imm}({rs})",                                                       "Call the address in a register plus a constant.",         "jalr 8(a0)"),
    _o("jalr",       "rd, rs",          "jalr {rd}, 0({rs})",                                                         "Jump to the address in a register; rd gets the address of the next instruction.",                      "jalr ra, a0"),
    _o("jalr",       "rs, imm",         "jalr ra, {imm}({rs})",                                                       "Call the address in a register plus a constant.",         "jalr a0, 8"),
    _o("jalr",       "rd, rs, imm",     "jalr {rd}, {imm}({rs})",                                                     "Jump to the address in a register plus a constant; rd gets the address of the next instruction.",      "jalr ra, a0, 8"),
    _o("jr",         "rs",              "jalr zero, 0({rs})",                                                         "Jump to the address in a register.",                      "jr a0"),
    _o("jr",         "imm(rs)",         "jalr zero, {imm}({rs})",                                                     "Jump to the address in a register plus a constant.",      "jr 8(a0)"),
    _o("jr",         "rs, imm",         "jalr zero, {imm}({rs})",                                                     "Jump to the address in a register plus a constant.",      "jr a0, 8"),
    _o("call",       "target",          "auipc ra, %hi({target} - .); jalr ra, %lo({target} - . + 4)(ra)",            "Call any address.",                                       "call .+16"),
    _o("call",       "rd, target",      "auipc t1, %hi({target} - .); jalr {rd}, %lo({target} - . + 4)(t1)",          "Call any address with rd as link register; t1 is lost.",  "call t0, .+16"),
    _o("add",        "rd, rs, imm",     "addi {rd}, {rs}, {imm}",                                                     "Add a constant.",                                         "add a0, a1, 5"),
    _o("slt",        "rd, rs, imm",     "slti {rd}, {rs}, {imm}",                                                     "1 if less than a constant, both signed, else 0.",         "slt a0, a1, 5"),
    _o("sltu",       "rd, rs, imm",     "sltiu {rd}, {rs}, {imm}",                                                    "1 if less than a constant, both unsigned, else 0.",       "sltu a0, a1, 5"),
    _o("xor",        "rd, rs, imm",     "xori {rd}, {rs}, {imm}",                                                     "Exclusive or with a constant.",                           "xor a0, a1, 5"),
    _o("or",         "rd, rs, imm",     "ori {rd}, {rs}, {imm}",                                                      "Or with a constant.",                                     "or a0, a1, 5"),
    _o("and",        "rd, rs, imm",     "andi {rd}, {rs}, {imm}",                                                     "And with a constant.",                                    "and a0, a1, 5"),
    _o("sll",        "rd, rs, shamt",   "slli {rd}, {rs}, {shamt}",                                                   "Shift left by a constant.",                               "sll a0, a1, 5"),
    _o("srl",        "rd, rs, shamt",   "srli {rd}, {rs}, {shamt}",                                                   "Shift right by a constant, zeros coming in.",             "srl a0, a1, 5"),
    _o("sra",        "rd, rs, shamt",   "srai {rd}, {rs}, {shamt}",                                                   "Shift right by a constant, copies of the sign coming in.", "sra a0, a1, 5"),
    _o("lb",         "rd, symbol",      "auipc {rd}, %hi({symbol} - .); lb {rd}, %lo({symbol} - . + 4)({rd})",        "Load a byte at a symbol, sign-extended.",                 "lb a0, ."),
    _o("lh",         "rd, symbol",      "auipc {rd}, %hi({symbol} - .); lh {rd}, %lo({symbol} - . + 4)({rd})",        "Load a halfword at a symbol, sign-extended.",             "lh a0, ."),
    _o("lw",         "rd, symbol",      "auipc {rd}, %hi({symbol} - .); lw {rd}, %lo({symbol} - . + 4)({rd})",        "Load a word at a symbol.",                                "lw a0, ."),
    _o("lbu",        "rd, symbol",      "auipc {rd}, %hi({symbol} - .); lbu {rd}, %lo({symbol} - . + 4)({rd})",       "Load a byte at a symbol, zero-extended.",                 "lbu a0, ."),
    _o("lhu",        "rd, symbol",      "auipc {rd}, %hi({symbol} - .); lhu {rd}, %lo({symbol} - . + 4)({rd})",       "Load a halfword at a symbol, zero-extended.",             "lhu a0, ."),
    _o("sb",         "rs, symbol, rt",  "auipc {rt}, %hi({symbol} - .); sb {rs}, %lo({symbol} - . + 4)({rt})",        "Store a byte at a symbol by way of rt.",                  "sb a0, ., t0"),
    _o("sh",         "rs, symbol, rt",  "auipc {rt}, %hi({symbol} - .); sh {rs}, %lo({symbol} - . + 4)({rt})",        "Store a halfword at a symbol by way of rt.",              "sh a0, ., t0"),
    _o("sw",         "rs, symbol, rt",  "auipc {rt}, %hi({symbol} - .); sw {rs}, %lo({symbol} - . + 4)({rt})",        "Store a word at a symbol by way of rt.",                  "sw a0, ., t0"),
    _o("fence",      "",                "fence iorw, iorw",                                                           "Order all memory accesses.",                              "fence"),
    _o("csrrw",      "rd, csr, uimm",   "csrrwi {rd}, {csr}, {uimm}",                                                 "Read a control and status register into rd and write a constant to it.",                                                 "csrrw a0, 0x7c0, 1"),
    _o("csrrs",      "rd, csr, uimm",   "csrrsi {rd}, {csr}, {uimm}",                                                 "Read a control and status register into rd and set constant bits of it (0: no write).",                                                 "csrrs a0, 0x7c0, 1"),
    _o("csrrc",      "rd, csr, uimm",   "csrrci {rd}, {csr}, {uimm}",                                                 "Read a control and status register into rd and clear constant bits of it (0: no write).",                                                 "csrrc a0, 0x7c0, 1"),
    _o("csrw",       "csr, rs",         "csrrw zero, {csr}, {rs}",                                                    "Write a control and status register.",                    "csrw 0x7c0, a0"),
    _o("csrw",       "csr, uimm",       "csrrwi zero, {csr}, {uimm}",                                                 "Write a constant to a control and status register.",      "csrw 0x7c0, 1"),
    _o("csrs",       "csr, rs",         "csrrs zero, {csr}, {rs}",                                                    "Set bits of a control and status register.",              "csrs 0x7c0, a0"),
    _o("csrs",       "csr, uimm",       "csrrsi zero, {csr}, {uimm}",                                                 "Set constant bits of a control and status register.",     "csrs 0x7c0, 1"),
    _o("csrc",       "csr, rs",         "csrrc zero, {csr}, {rs}",                                                    "Clear bits of a control and status register.",            "csrc 0x7c0, a0"),
    _o("csrc",       "csr, uimm",       "csrrci zero, {csr}, {uimm}",                                                 "Clear constant bits of a control and status register.",   "csrc 0x7c0, 1"),
)
# fmt: on

_LI = Pseudo(
    "li",
    "rd, number",
    KINDS,
    (
        Alternative(("addi {rd}, zero, %lo({number})",), _is_small),
        Alternative(("lui {rd}, %hi({number})",), _is_upper),
        Alternative(("lui {rd}, %hi({number})", "addi {rd}, {rd}, %lo({number})")),
    ),
    "Load a number of 32 bits, signed or unsigned.",
    choose="number",
    example="li a0, 0x12345678",
)

PSEUDOS = (_LI, *_PLAIN, *_OVERLOADED)
INSN = Directive(
    ".insn",
    ".insn FORMAT OPCODE, ... | .insn [4,] WORD",
    "An instruction by its format (r, r4, i, s, sb, u, uj) and fields, as in GNU as, or as a word.",
    ".insn r CUSTOM_0, 0, 0, a0, a1, a2\n.insn i 0x13, 0, a0, a1, 5\n.insn 0x00000013",
)
OPCODES = {
    "LOAD": 0x03, "LOAD_FP": 0x07, "CUSTOM_0": 0x0B, "MISC_MEM": 0x0F, "OP_IMM": 0x13,
    "AUIPC": 0x17, "OP_IMM_32": 0x1B, "STORE": 0x23, "STORE_FP": 0x27, "CUSTOM_1": 0x2B,
    "AMO": 0x2F, "OP": 0x33, "LUI": 0x37, "OP_32": 0x3B, "MADD": 0x43, "MSUB": 0x47,
    "NMSUB": 0x4B, "NMADD": 0x4F, "OP_FP": 0x53, "OP_V": 0x57, "CUSTOM_2": 0x5B, "BRANCH": 0x63,
    "JALR": 0x67, "JAL": 0x6F, "SYSTEM": 0x73, "CUSTOM_3": 0x7B,
}  # fmt: skip

FAMILIES = (
    "register",
    "immediate",
    "upper",
    "load",
    "store",
    "branch",
    "jump",
    "multiply",
    "divide",
    "csr",
    "system",
)

# Markers are in custom-0, like Xcp. With funct3 6 the field rs1 of R is the register group.
CUSTOM_0 = 0x0B
MARKER_TYPE = Format(
    "marker",
    32,
    (
        Field("zero", "31:20"),
        Field("g", "19:15", Immediate(5)),
        Field("funct3", "14:12"),
        Field("begin", "11:7"),
        Field("opcode", "6:0"),
    ),
    4,
)


def markers(family: str) -> tuple[Instruction, ...]:
    """Return the instruction rows of the trace markers (seed 001), with the given family.

    A core executes a marker as an ALU instruction.
    """
    return (
        _marker(
            "trace_begin", 1, "Begin to record in a register group of the trace block.", family
        ),
        _marker("trace_end", 0, "End recording in a register group of the trace block.", family),
    )


def _marker(mnemonic: str, begin: int, what: str, family: str) -> Instruction:
    fixed = {"opcode": CUSTOM_0, "funct3": 6, "begin": begin, "zero": 0}
    example = f"{mnemonic} 0"
    return Instruction(
        mnemonic,
        MARKER_TYPE,
        fixed,
        "g",
        what,
        "",
        "trace",
        family,
        "alu_cycles",
        example,
        "seed 001",
    )
