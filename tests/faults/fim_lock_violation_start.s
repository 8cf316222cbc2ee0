# A block that does not own the lock moves where the buffer starts.
#! fault lock violation: b0_start is moved by block 1: block 0 has the lock of buffer 0
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   b0_low, 0x40010000
          mmr   b0_high, 0x40010040
          lock
        end
        .block  banks=1
          act   1
          act   2
          mmr   b0_start, 0x40010020   #! here
        end
