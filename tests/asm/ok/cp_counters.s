# rdcycle and its like.
        .core   cp
        rdcycle a0
        rdcycleh a1
        rdtime  a2
        rdtimeh a3
        rdinstret a4
        rdinstreth a5
#! bytes .text.cp 732500c0 f32500c8 732610c0 f32610c8
#! bytes .text.cp 732720c0 f32720c8
