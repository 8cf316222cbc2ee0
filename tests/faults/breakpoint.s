# ebreak stops a run.
#! stop breakpoint: cp: ebreak at 0x00010000
        .core   cp
        ebreak
