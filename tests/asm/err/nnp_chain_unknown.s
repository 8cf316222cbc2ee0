# Behind a word 0 nobody knows what s_wr has set: what is broken for certain alone is said.
        .device tiny
        .core   nnp
        SetRowsCols(4, 4)
        v_rd    InitialVrf, 0
        v_wr    InitialVrf, 2             #! error 9-30: the chain reads entry 2 of InitialVrf and writes it: no update in place | rule in place: A chain that reads entries of InitialVrf does not write them.
        end_chain
        .word   0
        v_rd    InitialVrf, 0
        v_wr    InitialVrf, 2
        v_rd_inc InitialVrf, 2, 1
        v_wr    InitialVrf, 2             #! error 9-30: the chain reads entry 2 of InitialVrf and writes it: no update in place | rule in place: A chain that reads entries of InitialVrf does not write them.
        v_rd    NetInQ
        vv_add  AddSubVrf0, 256           #! error 9-32: vv_add needs entry 256 of AddSubVrf0, which has 256 (nnp.add_sub_vrf0) | rule range: Every entry that a chain needs is in its register file.
        v_wr    NetOutQ
        SetCols(1)
        v_rd    NetInQ
        v_softmax
        v_wr    NetOutQ
        end_chain
