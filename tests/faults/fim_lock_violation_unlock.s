# A block gives back a lock that another block has.
#! fault lock violation: block 1 gives the lock of buffer 0 back, which block 0 has
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          lock
        end
        .block  banks=1
          act   1
          unlock                       #! here
        end
