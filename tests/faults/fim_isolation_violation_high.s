# A buffer that reaches into another island.
#! fault isolation violation: b3_high names 0x44000020, which is not in fim\[0\], 0x40000000 to 0x4003ffff
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   b3_low, 0x4003ffe0
          mmr   b3_high, 0x40040000
          mmr   b3_high, 0x44000020    #! here
        end
