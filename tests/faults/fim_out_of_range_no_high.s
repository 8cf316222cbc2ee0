# A buffer with a start and no end.
#! fault out-of-range access: push, but no word has set b0_high: buffer 0 has no columns
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   b0_low, 0x40030000
          push  gio                    #! here
        end
