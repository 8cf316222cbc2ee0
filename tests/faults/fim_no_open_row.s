# A column is read before a row is open.
#! fault no open row: a column of bank 1, which has no open row
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=1
          act   3
          pre
          rop <- iosa[2]               #! here
        end
