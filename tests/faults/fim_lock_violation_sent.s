# An operation that cp sends writes a column of a buffer whose lock the block has kept.
#! fault lock violation: what the host sends writes 0x40000000, a column of buffer 0: block 0 has its lock
        .device tiny
        .core   cp
        li      a0, 8                   # core 8 is island 0
        la      a1, keeps
        core.start a0, a1
        li      a0, 1 << 8
        core.wait a0
        lui     a1, 0x40000             # bank 0, row 0, column 0
        fim.send 1, a1, zero            #! here
        .core   fim, island=0
keeps:  .block  banks=1
          mmr   b0_low, 0x40000000
          mmr   b0_high, 0x40000040
          lock
        end
