# Words that stand as data are held to no rule; a word 0 ends a program, and another may follow.
        .core   nnp
_start: v_rd    NetInQ
        v_wr    NetOutQ
        end_chain
        .word   0
second: .word   0x0c000000, 0xff000000
        v_rd    NetInQ
        .word   0x0e000000
        v_wr    NetOutQ
        .word   -1
        end_chain
#! bytes .nnp 00000302 00000205 000000ff 00000000 0000000c 000000ff 00000302 0000000e 00000205 ffffffff 000000ff
#! symbol second 0x30300010 28 func .nnp
