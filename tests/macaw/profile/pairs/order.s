# nnp sends eight vectors through two layers, and then each through a recurrent one: h = relu(W h + x).
# The layers of a vector come between two steps, and the second one waits for the first one, and the
# step after it, too. Mended: the layers of the next vectors come before chains that wait.
        .device tiny
        .input  x, float16, 8, 4, at=netin
        .output y, float16, 8, 4, at=netout
        .equ    STEPS, 8
        .equ    H, 0                    # InitialVrf: h, in two entries in turn
        .equ    X, 2                    # and what the first layer makes of each vector
        .core   nnp
        m_rd    Dram, 0
        m_wr    MatrixRf, 0

        .macro  first n
        v_rd    NetInQ
        mv_mul  0
        v_relu
        v_wr    InitialVrf, X + \n
        .endm
        .macro  second n
        v_rd    InitialVrf, X + \n
        mv_mul  0
        v_tanh
        v_wr    AddSubVrf0, \n
        .endm
        .macro  step n
        v_rd    InitialVrf, H + (\n & 1)
        mv_mul  0
        vv_add  AddSubVrf0, \n
        v_relu
        v_wr    InitialVrf, H + (~\n & 1)
        v_wr    NetOutQ
        .endm

        .ifndef MENDED
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        first   \n                      # here
        second  \n                      # here
        step    \n                      # here
        .endr
        .else
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        first   \n
        .endr
        second  0
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        .if     \n < STEPS - 1
        second  \n + 1
        .endif
        step    \n
        .endr
        .endif
        end_chain
        .data
W:      .float16 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1
