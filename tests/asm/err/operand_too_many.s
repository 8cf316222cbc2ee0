# What the mnemonic takes is said.
        .core   cp
        sub     a0, a1, a2, a3            #! error 9-31: sub does not take 4 operands | write sub rd, rs1, rs2
        ebreak  0                         #! error 9-18: ebreak does not take 1 operand | write ebreak
        dma.wait a0, a1                   #! error 9-24: dma.wait does not take 2 operands | write dma.wait rs1
        mem.swap a0, a1                   #! error 9-24: mem.swap does not take 2 operands | write mem.swap rs1
