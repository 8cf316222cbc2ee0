# nnp sends 16 vectors through two layers, one vector after the other: each chain waits for the one
# before. Mended: all vectors through the first layer, then through the second.
        .device tiny
        .input  x, float16, 16, 4, at=netin
        .output y, float16, 16, 4, at=netout
        .core   nnp
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        .ifndef MENDED
        .rept   16
        v_rd    NetInQ                  # here
        mv_mul  0
        v_relu
        v_wr    InitialVrf, 0
        v_rd    InitialVrf, 0           # here
        mv_mul  0
        v_relu
        v_wr    NetOutQ
        .endr
        .else
        SetIterations(16)
        v_rd    NetInQ
        mv_mul  0
        v_relu
        v_wr_inc InitialVrf, 0, 1
        v_rd_inc InitialVrf, 0, 1
        mv_mul  0
        v_relu
        v_wr    NetOutQ
        .endif
        end_chain
        .data
W:      .float16 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1
