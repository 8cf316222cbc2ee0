# Jumps with and without a link.
        .core   cp
start:  jal     start
        jal     t0, start
        j       end
        jal     zero, end
end:    nop
#! bytes .text.cp ef000000 eff2dfff 6f008000 6f004000
#! bytes .text.cp 13000000
