# An end in another island.
#! fault isolation violation: b0_end names 0x44000000, which is not in fim\[0\], 0x40000000 to 0x4003ffff
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   b0_end, 0x44000000   #! here
        end
