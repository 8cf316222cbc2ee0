# A pointer out of its buffer.
#! fault out-of-range access: b0_end names 0x40010060, outside of the buffer, 0x40010000 to 0x40010040
#! core fim\[0\]
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   b0_low, 0x40010000
          mmr   b0_high, 0x40010040
          mmr   b0_end, 0x40010060     #! here
        end
