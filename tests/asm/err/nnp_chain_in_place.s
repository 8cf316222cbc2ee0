# A chain does not update InitialVrf in place.
        .core   nnp
        v_rd    InitialVrf, 0
        v_relu
        v_wr    InitialVrf, 0             #! error 9-30: the chain reads entry 0 of InitialVrf and writes it: no update in place | rule in place: A chain that reads entries of InitialVrf does not write them.
        SetCols(4)
        v_rd    InitialVrf, 0
        v_wr    AddSubVrf0, 0
        v_wr    InitialVrf, 3             #! error 9-30: the chain reads entry 3 of InitialVrf and writes it: no update in place | rule in place: A chain that reads entries of InitialVrf does not write them.
        v_rd    InitialVrf, 0
        v_wr    InitialVrf, 4
        SetCols(1)
        SetIterations(9)
        Set2dWindows(5, 5, 3, 1, 0, 1)
        v_rd    InitialVrf, 0           # all of the volume
        v_wr    InitialVrf, 24            #! error 9-31: the chain reads entry 24 of InitialVrf and writes it: no update in place | rule in place: A chain that reads entries of InitialVrf does not write them.
        v_rd    InitialVrf, 0
        v_wr_inc InitialVrf, 25, 1
        v_rd_inc InitialVrf, 0, 2       # twice 0 to 2, 5 to 7, 10 to 12
        v_wr    InitialVrf, 20            #! error 9-31: the chain reads entry 20 of InitialVrf and writes it: no update in place | rule in place: A chain that reads entries of InitialVrf does not write them.
        v_rd_inc InitialVrf, 0, 2
        v_wr    InitialVrf, 21
        end_chain
