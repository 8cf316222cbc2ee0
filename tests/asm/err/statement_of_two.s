# A second statement wants a semicolon.
        .core   cp
        nop nop                           #! error 9-16: nop does not take 1 operand | write nop
        add     a0, a1, a2 sub a0, a1, a2  #! error 9-42: add does not take 5 operands | write add rd, rs1, rs2 or add rd, rs, imm
