# A push to a buffer that lies over another one, which is locked.
#! fault lock violation: block 1 writes 0x40010020, a column of buffer 0: block 0 has its lock
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   b0_low, 0x40010000
          mmr   b0_high, 0x40010040
          lock
        end
        .block  banks=2
          mmr   b1_low, 0x40010020
          mmr   b1_high, 0x40010080
          act   1
          push  rop, 1                 #! here
        end
