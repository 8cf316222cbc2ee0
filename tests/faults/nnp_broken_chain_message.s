# cp sends a message that sets a register of nnp to what no chain takes.
#! fault broken chain: a message: iterations is at least 1, not 0
        .device tiny
        .core   cp
        lui     a0, 0x303a0
        li      a1, 1 << 16             # no vectors, one word, control 0
        sw      a1, 0(a0)
        sw      zero, 0(a0)
        lui     a1, 0x30                # s_wr iterations, 0
        sw      a1, 0(a0)               #! here
