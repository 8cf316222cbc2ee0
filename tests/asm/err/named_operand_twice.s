# Each operand once.
        .core   cp
        add     rd=a0, rd=a1, rs1=a2, rs2=a3  #! error 27-29: the operand rd is given twice
