# A block takes a lock that it has.
#! fault lock violation: block 0 has the lock of buffer 1 already
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          lock  1
          lock  1                      #! here
        end
