# A buffer with an end of its own and no begin: on island 1 the columns of an address of 0 are island 0's.
#! fault out-of-range access: push, but no word has set b0_low: buffer 0 has no columns
#! core fim\[1\]
        .device tiny
        .core   fim, island=1
        .block  banks=0
          mmr   b0_high, 0x44030100
          push  gio                    #! here
        end
