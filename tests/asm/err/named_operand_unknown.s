# Operands have the names of the table.
        .core   cp
        add     rd=a0, rs1=a1, rs4=a2     #! error 32-35: add has no operand 'rs4' | did you mean 'rs2'?
        lw      rd=a0, offset=4           #! error 24-30: lw has no operand 'offset' | write lw rd, imm(rs1)
