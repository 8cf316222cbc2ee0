# cp waits until cp is done.
#! stop deadlock: deadlock: cp at 0x00010004 \(deadlock.s:5\) waits for core.wait 0x1 since cycle 1 \(cp is the one that waits\)
        .core   cp
        li      a0, 1 << 0
        core.wait a0
