# A device of the source's own: a preset and other values for some of its fields.
        .device tiny
        .setting name, mine
        .setting pe.rows, 1
        .setting cp.mul_cycles, 2 + 3
        .core   cp
        nop
#! bytes .text.cp 13000000
