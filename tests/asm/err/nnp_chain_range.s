# What a chain needs is in its register files.
        .device tiny
        .core   nnp
        v_rd    InitialVrf, 256           #! error 9-32: v_rd needs entry 256 of InitialVrf, which has 256 (nnp.initial_vrf) | rule range: Every entry that a chain needs is in its register file.
        v_wr    NetOutQ
        SetRowsCols(3, 2)
        v_rd    InitialVrf, 254
        v_wr    AddSubVrf0, 254
        v_rd    InitialVrf, 255           #! error 9-32: v_rd needs entry 256 of InitialVrf, which has 256 (nnp.initial_vrf) | rule range: Every entry that a chain needs is in its register file.
        v_wr    NetOutQ
        v_rd    NetInQ
        mv_mul  58
        v_wr    AddSubVrf1, 253
        v_rd    NetInQ
        mv_mul  59                        #! error 9-19: mv_mul needs entry 64 of MatrixRf, which has 64 (nnp.matrix_rf) | rule range: Every entry that a chain needs is in its register file.
        v_wr    NetOutQ
        SetIterations(3)
        v_rd    NetInQ
        v_wr_inc MulVrf, 240, 7
        v_rd    NetInQ
        vv_mul_inc 240, 8                 #! error 9-26: vv_mul_inc needs entry 257 of MulVrf, which has 256 (nnp.mul_vrf) | rule range: Every entry that a chain needs is in its register file.
        v_wr    NetOutQ
        m_rd    Dram, 65535
        m_wr    MatrixRf, 59              #! error 9-29: m_wr needs entry 64 of MatrixRf, which has 64 (nnp.matrix_rf) | rule range: Every entry that a chain needs is in its register file.
        end_chain
