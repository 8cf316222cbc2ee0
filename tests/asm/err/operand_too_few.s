# What the mnemonic takes is said.
        .core   cp
        add     a0                        #! error 9-19: add does not take 1 operand | write add rd, rs1, rs2 or add rd, rs, imm
        beq     a0, a1                    #! error 9-23: beq needs the operand target | write beq rs1, rs2, target
        dma.copy                          #! error 9-17: dma.copy needs the operand rd | write dma.copy rd, rs1
        core.start a0                     #! error 9-22: core.start needs the operand rs2 | write core.start rs1, rs2
