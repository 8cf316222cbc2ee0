# What comes from an argument lies where the body asks for it.
        .core cp
        .macro load r, offset, base=sp
        lw \r, \offset + 8(\base)         #! error 9-34: lw does not take 3 operands | write lw rd, imm(rs1) or lw rd, symbol
        .endm
        load a0, 2047
        load q0, 4
        load a0, 4, base=q1
        load "a0, a1", 4
#! error 4:28-33: 'q1' is no register | a register, zero to t6
#! error 4:12-14: 'q0' is no register | a register, zero to t6
#! error 4:16-27: imm: 2055 is out of range, -2048 to 2047
