# No entry of a register file is both read and written by a chain, all its iterations together.
        .core   nnp
        v_rd    NetInQ
        vv_add  AddSubVrf0, 5
        v_wr    AddSubVrf0, 5             #! error 9-30: v_wr writes entry 5 of AddSubVrf0, which vv_add of the chain reads | rule entries: Over all its iterations, a chain does not both read and write the same entry of a register file.
        SetRowsCols(2, 3)
        v_rd    NetInQ
        vv_mul  5
        v_wr    NetOutQ
        v_wr    MulVrf, 7               # cols is 3  #! error 9-26: v_wr writes entry 7 of MulVrf, which vv_mul of the chain reads | rule entries: Over all its iterations, a chain does not both read and write the same entry of a register file.
        v_rd    NetInQ
        mv_mul  0
        vv_mul  5
        v_wr    MulVrf, 7               # rows is 2: these are apart
        SetIterations(4)
        v_rd_inc AddSubVrf1, 0, 3
        v_wr_inc AddSubVrf1, 11, 3        #! error 9-35: v_wr_inc writes entry 11 of AddSubVrf1, which v_rd_inc of the chain reads | rule entries: Over all its iterations, a chain does not both read and write the same entry of a register file.
        v_rd    NetInQ
        vv_add_inc AddSubVrf1, 0, 3
        v_wr_inc AddSubVrf1, 12, 3
        v_rd    Dram, 0                 # external memory is no register file
        v_wr    Dram, 0
        m_rd    MatrixRf, 0
        m_wr    Dram, 0
        end_chain
