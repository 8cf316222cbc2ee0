# Two blocks push to a buffer, and none of them has its lock.
#! fault lock violation: push by block 1: block 0 fills buffer 0, too, and none of them has its lock
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   b0_low, 0x40010000
          mmr   b0_high, 0x40010040
          push  gio
        end
        .block  banks=1
          act   1
          act   2
          push  gio                    #! here
        end
