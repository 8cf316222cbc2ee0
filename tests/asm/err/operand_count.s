# Too few and too many operands, and what the mnemonic takes.
        .core cp
        add     a0, a1                    #! error 9-23: add does not take 2 operands | write add rd, rs1, rs2 or add rd, rs, imm
        add     a0, a1, a2, a3            #! error 9-31: add does not take 4 operands | write add rd, rs1, rs2 or add rd, rs, imm
        nop     a0                        #! error 9-19: nop does not take 1 operand | write nop
        lw      a0                        #! error 9-19: lw does not take 1 operand | write lw rd, imm(rs1) or lw rd, symbol
        lw      a0, 4(sp), 3              #! error 9-29: lw does not take 3 operands | write lw rd, imm(rs1) or lw rd, symbol
        ecall   1                         #! error 9-18: ecall does not take 1 operand | write ecall
        jalr                              #! error 9-13: jalr does not take no operands | write jalr rd, imm(rs1) or jalr rs or jalr imm(rs) or jalr rd, rs or jalr rs, imm or jalr rd, rs, imm
        ret     a0                        #! error 9-19: ret does not take 1 operand | write ret
        dma.copy a0                       #! error 9-20: dma.copy needs the operand rs1 | write dma.copy rd, rs1
        mv      a0                        #! error 9-19: mv needs the operand rs | write mv rd, rs
        sw      a0, 4                     #! error 9-22: sw needs the operand rs1 | write sw rs2, imm(rs1)
