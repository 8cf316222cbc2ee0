# nnp sends 32 vectors through a layer by a chain each. Mended: one chain takes all vectors.
        .device tiny
        .input  x, float16, 32, 4, at=netin
        .output y, float16, 32, 4, at=netout
        .core   nnp
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        .ifndef MENDED
        .rept   32
        v_rd    NetInQ                  # here
        mv_mul  0
        v_relu
        v_wr    NetOutQ
        .endr
        .else
        SetIterations(32)
        v_rd    NetInQ
        mv_mul  0
        v_relu
        v_wr    NetOutQ
        .endif
        end_chain
        .data
W:      .float16 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1
