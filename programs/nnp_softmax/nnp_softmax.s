# nnp_softmax.s - a classifier: 6 inputs, 5 classes, the share of each by softmax, four vectors.
#
# Five outputs are two native vectors; SetValid keeps the three that fill them out of the sum.

        .device tiny
        .equ    ITEMS, 4
        .input  x, float16, ITEMS * 2, 4, at=netin
        .output y, float16, ITEMS * 2, 4, at=netout

        .core   nnp
        .hint   tensor W, MatrixRf, 0, 5, 6
        .hint   tensor b, AddSubVrf0, 0, 1, 5
        .hint   tensor x, NetInQ, 0, ITEMS, 6
        .hint   tensor y, NetOutQ, 0, ITEMS, 5

        SetRowsCols(2, 2)
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        v_rd    Dram, 4 * 4
        v_wr    AddSubVrf0, 0
        SetIterations(ITEMS)
        SetValid(5)
        v_rd    NetInQ
        mv_mul  0
        vv_add  AddSubVrf0, 0
        v_softmax
        v_wr    NetOutQ
        end_chain

        .data
        .npy    "matrix.npy"
        .npy    "bias.npy"
