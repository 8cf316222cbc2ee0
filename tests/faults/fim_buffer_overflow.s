# A third column is pushed to a buffer of two.
#! fault buffer overflow: push of a column to buffer 2: 2 of its 2 columns are pushed
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   b2_low, 0x40010000
          mmr   b2_high, 0x40010040
          loop  3
            push gio, 2                #! here
          endloop
        end
