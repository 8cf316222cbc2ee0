# dense.s - y = W * x on nnp, with matrices of four bits, as the sum of two products.
        .device tiny
        .setting nnp.matrix_bits, 4
        .input  x, float16, 2, 4, at=netin
        .output y, float16, 1, 4, at=netout

        .core   nnp
        SetRowsCols(1, 2)
        m_rd    Dram, tile(W)
        m_wr    MatrixRf, 0
        m_rd    Dram, tile(rest)
        m_wr    MatrixRf, 2

        SetCols(2)                      # x is two native vectors, and both products need it
        v_rd    NetInQ
        v_wr    InitialVrf, 0
        v_rd    InitialVrf, 0
        mv_mul  2
        v_wr    AddSubVrf0, 0
        v_rd    InitialVrf, 0
        mv_mul  0
        vv_add  AddSubVrf0, 0
        v_wr    NetOutQ
        end_chain

        .data
W:      .npy    "matrix.npy"
rest:   .npy    "rest.npy"
