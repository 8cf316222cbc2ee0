# A function that the island does not have, in a word that no assembler saw.
#! fault not available: island 1 has no div, but add, sub, mul, sigmoid, tanh
#! core fim\[1\]
        .device tiny
        .core   fim, island=1
        .block  banks=0
          .word 0x80000003
          .word 0x15c00001             #! here
        end
