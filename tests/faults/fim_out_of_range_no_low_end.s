# A pointer of a buffer that begins nowhere.
#! fault out-of-range access: b2_end is moved, but no word has set b2_low: buffer 2 has no columns
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   b2_high, 0x40010040
          mmr   b2_end, 0x40010020     #! here
        end
