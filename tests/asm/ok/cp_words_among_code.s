# Data may stand among code.
        .core   cp
        lw      a0, table
        ret
table:  .word   0x13, 0xffffffff
        .half   1, 2
#! bytes .text.cp 17050000 0325c500 67800000 13000000
#! bytes .text.cp ffffffff 01000200
