# A part ends with end_chain.
        .core   nnp
        v_rd    NetInQ
        v_wr    NetOutQ                   #! error 9-24: end_chain is missing after the last instruction | rule end: A part ends with end_chain.
        .word   0                       # behind it another program begins
        v_rd    NetInQ
        v_wr    NetOutQ
        end_chain
        .word   0
        SetCols(2)                        #! error 9-19: end_chain is missing after the last instruction | rule end: A part ends with end_chain.
