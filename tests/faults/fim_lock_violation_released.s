# When the lock is given back, the producer's columns are still the producer's alone.
#! fault lock violation: block 1 writes 0x400301e0, a column of buffer 0: block 0 fills it
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   b0_low, 0x40030000
          mmr   b0_high, 0x40030200
          lock
          push  gio
          unlock
        end
        .block  banks=3
          pull  rop
          act   0
          fim   1, 31, -1, 20           #! here
        end
