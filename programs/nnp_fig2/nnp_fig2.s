# nnp_fig2.s - seed 003, Fig. 2: y0 = Q(A0 x0) + A1 x1 + b0 and y1 = Q(A2 x0) + A3 x1 + b1.
#
# Weights and inputs are quantised (Q 222 to 274). What leaves MAC_0 and MAC_2 is quantised, too
# (Q 226, Q 266), what leaves MAC_1 and MAC_3 is not. The device's four bits make it visible.

        .device "four_bits.toml"
        .output y, float16, 2, 4, at=netout

        .core   nnp
        .hint   tensor A0, MatrixRf, 0, 4, 4
        .hint   tensor A1, MatrixRf, 1, 4, 4
        .hint   tensor A2, MatrixRf, 2, 4, 4
        .hint   tensor A3, MatrixRf, 3, 4, 4
        .hint   tensor x, InitialVrf, 0, 2, 4
        .hint   tensor b, AddSubVrf1, 0, 2, 4
        .hint   tensor y, NetOutQ, 0, 2, 4

        SetCols(4)
        m_rd    Dram, 0
        m_wr    MatrixRf, 0             # Q 222, 232, 262, 272
        SetCols(2)
        v_rd    Dram, 4 * 4
        v_wr    InitialVrf, 0           # Q 224, 234, 264, 274
        v_rd    Dram, 4 * 4 + 2
        v_wr    AddSubVrf1, 0
        SetCols(1)

        v_rd    InitialVrf, 0
        mv_mul  0                       # MAC_0
        v_quantise                      # Q 226
        v_wr    AddSubVrf0, 0
        v_rd    InitialVrf, 1
        mv_mul  1                       # MAC_1
        vv_add  AddSubVrf0, 0
        vv_add  AddSubVrf1, 0           # Add_0
        v_wr    NetOutQ

        v_rd    InitialVrf, 0
        mv_mul  2                       # MAC_2
        v_quantise                      # Q 266
        v_wr    AddSubVrf0, 1
        v_rd    InitialVrf, 1
        mv_mul  3                       # MAC_3
        vv_add  AddSubVrf0, 1
        vv_add  AddSubVrf1, 1           # Add_1
        v_wr    NetOutQ
        end_chain

        .data
        .float16 0.9, -0.3, 0.2, 0.7, -0.1, 0.8, 0.4, -0.6, 0.5, 0.5, -0.9, 0.3, 0.2, -0.7, 0.1, 0.6
        .float16 -0.4, 0.1, 0.8, 0.2, 0.3, 0.9, -0.5, 0.1, 0.7, -0.2, 0.6, -0.8, 0.4, 0.4, -0.3, 0.9
        .float16 0.6, 0.2, -0.7, 0.3, 0.8, -0.4, 0.1, 0.5, -0.9, 0.3, 0.2, 0.1, 0.1, 0.6, 0.5, -0.2
        .float16 0.3, -0.8, 0.4, 0.6, -0.2, 0.5, 0.9, 0.1, 0.1, 0.7, -0.6, 0.4, 0.8, 0.2, 0.3, -0.5
        .float16 1.3, -0.8, 0.4, 2.1, 0.9, 1.7, -1.2, 0.5  # x0, x1
        .float16 0.05, -0.1, 0.15, 0.2, -0.25, 0.3, 0.35, -0.4  # b0, b1
