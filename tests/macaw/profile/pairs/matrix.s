# nnp loads the matrix again for each of 16 vectors. Mended: once.
        .device tiny
        .input  x, float16, 16, 4, at=netin
        .output y, float16, 16, 4, at=netout
        .core   nnp
        .ifdef MENDED
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        .endif
        .rept   16
        .ifndef MENDED
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        .endif
        v_rd    NetInQ                  # here
        mv_mul  0
        v_relu
        v_wr    NetOutQ
        .endr
        end_chain
        .data
W:      .float16 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1
