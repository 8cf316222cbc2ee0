# Instructions by their fields that there cannot be.
        .core   cp
        .insn                             #! error 9-14: .insn takes other operands | write .insn FORMAT OPCODE, ... | .insn [4,] WORD
        .insn x 0x33, 0                   #! error 15-16: no format of instructions is called 'x' | there are r, i, s, sb, b, u, uj, j, r4
        .insn r 0x33, 0                   #! error 9-24: .insn takes other operands | write .insn r opcode, funct3, funct7, rd, rs1, rs2
        .insn r 0x33, 0, 0, a0, a1        #! error 9-35: .insn needs the operand rs2 | write .insn rd, rs1, rs2
        .insn r 0x30, 0, 0, a0, a1, a2    #! error 17-21: the opcode of an instruction of 4 bytes ends with the bits 11
        .insn r 0x133, 0, 0, a0, a1, a2   #! error 17-22: opcode: 307 is out of range, 0 to 127
        .insn r NOTHING, 0, 0, a0, a1, a2  #! error 17-24: the value must be known here: 'NOTHING' is not defined before
        .insn r 0x33, 8, 0, a0, a1, a2    #! error 23-24: funct3: 8 is out of range, 0 to 7
        .insn i 0x13, 0, a0, a1, 4096     #! error 34-38: imm: 4096 is out of range, -2048 to 2047
        .insn r4 0x43, 0, 1, a0, a1, a2   #! error 9-40: .insn takes other operands | write .insn r4 opcode, funct3, funct2, rd, rs1, rs2, rs3
        .insn r4 0x43, 0, 1, a0, a1, a2, 5  #! error 42-43: a register is needed here
        .insn r4 0x43, 0, 4, a0, a1, a2, a3  #! error 27-28: funct2: 4 is out of range, 0 to 3
        .insn 0x1                         #! error 15-18: an instruction of 4 bytes ends with the bits 11
        .insn 2, 0x1                      #! error 15-16: an instruction has 4 bytes
        .insn 4, 0x13, 5                  #! error 9-25: .insn takes other operands | write .insn FORMAT OPCODE, ... | .insn [4,] WORD
        .insn 0x100000013                 #! error 15-26: instruction: 4294967315 is out of range, 0 to 4294967295
