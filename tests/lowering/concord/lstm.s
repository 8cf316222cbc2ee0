# Three steps of an LSTM with 7 units on 6 inputs; every tensor has its name.
        .device tiny
        .input  messages, float16, 142, 4, at=netin
        .output results, float16, 6, 4, at=netout

        .macro  gate at, u, xs, bs, activation, to:vararg
        v_rd    InitialVrf, 2                   # h
        mv_mul  \u
        vv_add  AddSubVrf0, \xs
        vv_add  AddSubVrf1, \bs
        \activation
        v_wr    \to
        .endm

        .core   nnp
        .hint   tensor W_i, MatrixRf, 0, 7, 6
        .hint   tensor W_f, MatrixRf, 4, 7, 6
        .hint   tensor W_o, MatrixRf, 8, 7, 6
        .hint   tensor W_g, MatrixRf, 12, 7, 6
        .hint   tensor U_i, MatrixRf, 16, 7, 7
        .hint   tensor U_f, MatrixRf, 20, 7, 7
        .hint   tensor U_o, MatrixRf, 24, 7, 7
        .hint   tensor U_g, MatrixRf, 28, 7, 7
        .hint   tensor b_i, AddSubVrf1, 0, 1, 7
        .hint   tensor b_f, AddSubVrf1, 2, 1, 7
        .hint   tensor b_o, AddSubVrf1, 4, 1, 7
        .hint   tensor b_g, AddSubVrf1, 6, 1, 7
        .hint   tensor x, NetInQ, 136, 3, 6
        .hint   tensor y, NetOutQ, 0, 3, 7
        .hint   tensor h, InitialVrf, 2, 1, 7
        .hint   tensor c, MulVrf, 4, 1, 7
        .hint   tensor i, MulVrf, 0, 1, 7
        .hint   tensor f, MulVrf, 2, 1, 7
        .hint   tensor o, MulVrf, 6, 1, 7
        .hint   tensor g, InitialVrf, 4, 1, 7
_start: SetRowsCols(2, 2)
        .irp    at, 0, 4, 8, 12, 16, 20, 24, 28
        m_rd    NetInQ
        m_wr    MatrixRf, \at
        .endr
        .irp    at, 0, 2, 4, 6
        v_rd    NetInQ
        v_wr    AddSubVrf1, \at
        .endr
        .rept   3
        v_rd    NetInQ
        v_wr    InitialVrf, 0
        .irp    at, 0, 4, 8, 12
        v_rd    InitialVrf, 0
        mv_mul  \at
        v_wr    AddSubVrf0, \at / 2
        .endr
        gate    i, 16, 0, 0, v_sigm, MulVrf, 0
        gate    f, 20, 2, 2, v_sigm, MulVrf, 2
        gate    o, 24, 4, 4, v_sigm, MulVrf, 6
        gate    g, 28, 6, 6, v_tanh, InitialVrf, 4
        v_rd    InitialVrf, 4
        vv_mul  0
        v_wr    AddSubVrf0, 8
        v_rd    MulVrf, 4
        vv_mul  2
        vv_add  AddSubVrf0, 8
        v_wr    AddSubVrf1, 8
        v_rd    AddSubVrf1, 8
        v_wr    MulVrf, 4
        v_rd    AddSubVrf1, 8
        v_tanh
        v_wr    AddSubVrf0, 10
        v_rd    AddSubVrf0, 10
        vv_mul  6
        v_wr    InitialVrf, 2
        v_wr    NetOutQ
        .endr
        end_chain
