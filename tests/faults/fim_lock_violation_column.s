# The block of the bank in which a locked buffer lies overwrites a column that was pushed.
#! fault lock violation: block 1 writes 0x40030000, a column of buffer 0: block 0 has its lock
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   b0_low, 0x40030000
          mmr   b0_high, 0x40030200
          lock
          push  gio
          loop  60
          mmr   rz_slot, 0
          endloop
          unlock
        end
        .block  banks=3
          act   0
          iosa[16] <- rz               # behind the buffer
          iosa[0] <- rz                #! here
        end
