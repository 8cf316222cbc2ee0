# Chains through the multiplier and both multi-function units, with end_chain between or without.
        .core   nnp
        SetRowsCols(2, 2)
        m_rd    NetInQ
        m_wr    MatrixRf, 0
        m_rd    Dram, 4
        m_wr    MatrixRf, 4
        m_rd    MatrixRf, 0
        m_wr    Dram, 16
        v_rd    NetInQ
        v_wr    InitialVrf, 0
        v_wr    AddSubVrf0, 2           # several writes of the same vectors
        v_wr    AddSubVrf1, 2
        v_wr    MulVrf, 2
        end_chain
        v_rd    InitialVrf, 0
        mv_mul  0
        vv_add  AddSubVrf0, 0
        v_sigm
        vv_mul  0
        vv_a_sub_b AddSubVrf1, 0
        v_tanh
        v_wr    NetOutQ
        v_rd    Dram, 0
        vv_mul  4
        vv_b_sub_a AddSubVrf0, 4
        v_relu
        vv_max  AddSubVrf1, 4
        v_wr    Dram, 9
        v_rd    MulVrf, 0
        v_softmax
        v_quantise
        v_tanh                          # in MFU1: MFU0 has one block that activates
        v_wr    NetOutQ, 0
        end_chain
