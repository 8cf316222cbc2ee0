# Stores of every width, offsets at both ends.
        .core   cp
        sb      a0, -2048(sp)
        sh      a1, 2046(sp)
        sw      a2, 0(s0)
        sw      zero, -4(s1)
#! bytes .text.cp 2300a180 231fb17e 2320c400 23ae04fe
