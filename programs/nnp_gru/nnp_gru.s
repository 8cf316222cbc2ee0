# nnp_gru.s - a GRU, four steps:
#
#   r = sigmoid(Wr x + Ur h + br)
#   z = sigmoid(Wz x + Uz h + bz)
#   n = tanh(Wn x + r (Un h) + bn)
#   h = n + z (h - n)
#
# The products of a step's x stand before the chain that ends the step before: they need no h, and
# keep the multiplier at work while that chain is on its way.

        .device tiny
        .equ    STEPS, 4
        .equ    R, 2                    # native vectors of x and h
        .equ    M, R * R                # tiles of a matrix
        .input  x, float16, STEPS * R, 4, at=netin
        .output y, float16, STEPS * R, 4, at=netout

        .core   nnp
        .hint   tensor Wr, MatrixRf, 0, 7, 8
        .hint   tensor Wz, MatrixRf, M, 7, 8
        .hint   tensor Wn, MatrixRf, 2 * M, 7, 8
        .hint   tensor Ur, MatrixRf, 3 * M, 7, 7
        .hint   tensor Uz, MatrixRf, 4 * M, 7, 7
        .hint   tensor Un, MatrixRf, 5 * M, 7, 7
        .hint   tensor br, AddSubVrf0, 0, 1, 7
        .hint   tensor bz, AddSubVrf0, R, 1, 7
        .hint   tensor bn, AddSubVrf0, 2 * R, 1, 7
        .hint   tensor x, NetInQ, 0, STEPS, 8
        .hint   tensor start, Dram, (zeros - matrices) / 8, 1, 7
        .hint   tensor y, NetOutQ, 0, STEPS, 7

# InitialVrf: h, x. AddSubVrf0: biases, sums of x, h in turns (a chain cannot write what it reads).
# AddSubVrf1: n. MulVrf: r, z.
        .equ    H, 0
        .equ    X, R
        .equ    SUM, 3 * R
        .equ    STATE, 6 * R
        .equ    GATE_R, 0
        .equ    GATE_Z, R

        .macro  inputs                  # of a step: x, and its products
        v_rd    NetInQ
        v_wr    InitialVrf, X
        .irp    gate, 0, 1, 2
        v_rd    InitialVrf, X
        mv_mul  \gate * M
        vv_add  AddSubVrf0, \gate * R
        v_wr    AddSubVrf0, SUM + \gate * R
        .endr
        .endm

        SetRowsCols(6 * R, R)
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        SetRowsCols(R, 3 * R)
        v_rd    Dram, (biases - matrices) / 8
        v_wr    AddSubVrf0, 0
        SetCols(R)
        v_rd    Dram, (zeros - matrices) / 8
        v_wr    InitialVrf, H
        v_wr    AddSubVrf0, STATE
        inputs
        .set    STEP, 0
        .rept   STEPS
        v_rd    InitialVrf, H           # r
        mv_mul  3 * M
        vv_add  AddSubVrf0, SUM
        v_sigm
        v_wr    MulVrf, GATE_R
        v_rd    InitialVrf, H           # n
        mv_mul  5 * M
        vv_mul  GATE_R
        vv_add  AddSubVrf0, SUM + 2 * R
        v_tanh
        v_wr    AddSubVrf1, 0
        v_rd    InitialVrf, H           # z
        mv_mul  4 * M
        vv_add  AddSubVrf0, SUM + R
        v_sigm
        v_wr    MulVrf, GATE_Z
        .if     STEP < STEPS - 1
        inputs
        .endif
        v_rd    AddSubVrf1, 0           # h
        vv_b_sub_a AddSubVrf0, STATE + STEP % 2 * R
        vv_mul  GATE_Z
        vv_add  AddSubVrf1, 0
        v_wr    InitialVrf, H
        v_wr    AddSubVrf0, STATE + (STEP + 1) % 2 * R
        v_wr    NetOutQ
        .set    STEP, STEP + 1
        .endr
        end_chain

        .data
matrices:
        .npy    "matrices.npy"
biases: .npy    "biases.npy"
zeros:  .zero   R * 8
