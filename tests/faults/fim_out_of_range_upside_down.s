# A buffer whose end is before its start.
#! fault out-of-range access: push, but b0_high is 0x40030000, before b0_low, 0x40030200
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   b0_low, 0x40030200
          mmr   b0_high, 0x40030000
          push  gio                    #! here
        end
