# Loads and stores want brackets.
        .core   cp
        sw      a0, 8                     #! error 9-22: sw needs the operand rs1 | write sw rs2, imm(rs1)
        lw      a0, 8, sp                 #! error 9-26: lw does not take 3 operands | write lw rd, imm(rs1) or lw rd, symbol
