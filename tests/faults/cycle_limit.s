# A program that never ends, and --max-cycles.
#! stop cycle limit: cycle limit: 500 cycles are over; running: cp at 0x00010000 \(cycle_limit.s:5\)
#! max-cycles 500
        .core   cp
again:  j       again
