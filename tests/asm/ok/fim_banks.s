# Data that the loader puts into banks of an island.
        .device tiny
        .output y, float16, 16
        .core   fim, island=1
        .section .fim.1.bank2.row3
here:   .half   1, 2
        #! at .fim.1.bank2.row3+0 01000200
        .section .fim.1.bank0.row63
        .word   here
        #! at .fim.1.bank0.row63+0 000c0244
        .section .fim.1.bank2.row3
        .half   3
        #! at .fim.1.bank2.row3+4 0300
        .text
        .block  banks=2
          act   3
        end
