# Hints about tensors in the memories of nnp have no bytes; other advice is ignored there too.
        .device tiny
        .core   nnp
        .hint   tensor x, NetInQ, 0, 1, 10
        .hint   tensor y, NetOutQ, 0, 1, 6
        .hint   tensor W, MatrixRf, W0, 6, 10
        .hint   tensor bias, AddSubVrf0, 2 * 4, 1, 6
        .hint   unroll=4
        .hint
        SetRowsCols(2, 3)
        v_rd    NetInQ
        mv_mul  W0
        vv_add  AddSubVrf0, 8
        v_wr    NetOutQ
        end_chain
        .equ    W0, 4
#! bytes .nnp 02000100 03000200 00000302 04000007 08000708 00000205 000000ff
