# A convolution, 3 x 3 with a rim of zeros, relu, and a max pool of 2 x 2; 4 x 6 positions of
# 5 channels, 3 outputs; weights and image in external memory.
        .device tiny
        .data
memory: .array  float16, 256, 4
        .output results, float16, 6, 4, at=netout

        .core   nnp
        .hint   tensor kernel, MatrixRf, 0, 3, 72
        .hint   tensor image, Dram, 128, 24, 5
        .hint   tensor bias, AddSubVrf0, 0, 1, 3
        .hint   tensor plane, InitialVrf, 100, 24, 3
        .hint   tensor pooled, NetOutQ, 0, 6, 3
_start: SetRowsCols(1, 18)
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        SetCols(1)
        v_rd    Dram, 200
        v_wr    AddSubVrf0, 0
        SetCols(2)
        SetIterations(24)
        v_rd_inc Dram, 128, 2
        v_wr_inc InitialVrf, 0, 2

        SetCols(18)
        Set2dWindows(6, 4, 3, 1, 1, 2)
        v_rd    InitialVrf, 0
        mv_mul  0
        vv_add_inc AddSubVrf0, 0, 0
        v_relu
        v_wr_inc InitialVrf, 100, 1
        Set2dWindows(1, 1, 1, 1, 0, 1)
        SetCols(1)
        v_rd_inc InitialVrf, 100, 1
        v_wr_inc AddSubVrf0, 100, 1
        v_wr_inc AddSubVrf1, 100, 1

        SetIterations(6)
        Set2dWindows(6, 4, 2, 2, 0, 1)
        v_rd_inc InitialVrf, 100, 1
        vv_max_inc AddSubVrf0, 101, 1
        vv_max_inc AddSubVrf1, 106, 1
        v_wr_inc MulVrf, 0, 1
        Set2dWindows(1, 1, 1, 1, 0, 1)
        v_rd_inc MulVrf, 0, 1
        v_wr_inc AddSubVrf1, 0, 1
        Set2dWindows(6, 4, 2, 2, 0, 1)
        v_rd_inc AddSubVrf0, 107, 1
        v_wr_inc MulVrf, 6, 1
        Set2dWindows(1, 1, 1, 1, 0, 1)
        v_rd_inc MulVrf, 6, 1
        vv_max_inc AddSubVrf1, 0, 1
        v_wr    NetOutQ
        end_chain
