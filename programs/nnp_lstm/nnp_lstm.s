# nnp_lstm.s - an LSTM with the cell state in all its gates, five steps, as seed 003 writes it:
#
#   i = sigmoid(Wxi x + Whi h + Wci c + bi)
#   f = sigmoid(Wxf x + Whf h + Wcf c + bf)
#   c = f c + i tanh(Wxc x + Whc h + bc)
#   o = sigmoid(Wxo x + Who h + Wco c + bo)        with the new c
#   h = o tanh(c)
#
# Five inputs and six cells make two native vectors of four each, a matrix 2 x 2 tiles. Products stand
# where their operands are known longest: those of x first, those of the new c last.

        .device tiny
        .equ    STEPS, 5
        .equ    R, 2                    # native vectors of x, h and c
        .equ    M, R * R                # tiles of a matrix
        .input  x, float16, STEPS * R, 4, at=netin
        .output y, float16, STEPS * R, 4, at=netout

        .core   nnp
        .hint   tensor Wxi, MatrixRf, 0, 6, 5
        .hint   tensor Wxf, MatrixRf, M, 6, 5
        .hint   tensor Wxc, MatrixRf, 2 * M, 6, 5
        .hint   tensor Wxo, MatrixRf, 3 * M, 6, 5
        .hint   tensor Whi, MatrixRf, 4 * M, 6, 6
        .hint   tensor Whf, MatrixRf, 5 * M, 6, 6
        .hint   tensor Whc, MatrixRf, 6 * M, 6, 6
        .hint   tensor Who, MatrixRf, 7 * M, 6, 6
        .hint   tensor Wci, MatrixRf, 8 * M, 6, 6
        .hint   tensor Wcf, MatrixRf, 9 * M, 6, 6
        .hint   tensor Wco, MatrixRf, 10 * M, 6, 6
        .hint   tensor bi, AddSubVrf0, BIAS, 1, 6
        .hint   tensor bf, AddSubVrf0, BIAS + R, 1, 6
        .hint   tensor bc, AddSubVrf0, BIAS + 2 * R, 1, 6
        .hint   tensor bo, AddSubVrf0, BIAS + 3 * R, 1, 6
        .hint   tensor x, NetInQ, 0, STEPS, 5
        .hint   tensor start, Dram, (zeros - matrices) / 8, 1, 6
        .hint   tensor y, NetOutQ, 0, STEPS, 6

# InitialVrf feeds the multiplier; the multi-function units take operands from their own files.
        .equ    X, 0                    # InitialVrf
        .equ    H, R
        .equ    C, 2 * R
        .equ    BIAS, 0                 # AddSubVrf0: of i, f, c, o
        .equ    SUM, 4 * R              # and what is summed of each so far: of x, then of h
        .equ    SUMH, 8 * R
        .equ    KEPT, 0                 # AddSubVrf1: f c
        .equ    CELL, R                 # and c
        .equ    GATE, 0                 # MulVrf: i, then o
        .equ    OLD, R                  # and c

        SetRowsCols(11 * R, R)                  # all matrices, tile after tile
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        SetRowsCols(R, 4 * R)
        v_rd    Dram, (biases - matrices) / 8   # a native vector of fp16 takes 8 bytes
        v_wr    AddSubVrf0, BIAS
        SetCols(R)
        v_rd    Dram, (zeros - matrices) / 8    # no state yet
        v_wr    InitialVrf, H
        v_wr    InitialVrf, C
        v_wr    MulVrf, OLD

# product FROM, MATRIX, ADDED: begins a chain, the product of a matrix (by number) plus what was there.
        .macro  product from, matrix, added
        v_rd    InitialVrf, \from
        mv_mul  (\matrix) * M
        vv_add  AddSubVrf0, \added
        .endm

        .rept   STEPS
        v_rd    NetInQ
        v_wr    InitialVrf, X
        .irp    gate, 0, 1, 2, 3        # i, f, c, o of x
        product X, \gate, BIAS + \gate * R
        v_wr    AddSubVrf0, SUM + \gate * R
        .endr
        .irp    gate, 0, 1, 3           # i, f, o of h
        product H, 4 + \gate, SUM + \gate * R
        v_wr    AddSubVrf0, SUMH + \gate * R
        .endr

        product C, 8, SUMH              # i
        v_sigm
        v_wr    MulVrf, GATE
        product C, 9, SUMH + R          # f
        v_sigm
        vv_mul  OLD
        v_wr    AddSubVrf1, KEPT
        product H, 6, SUM + 2 * R       # c
        v_tanh
        vv_mul  GATE
        vv_add  AddSubVrf1, KEPT
        v_wr    InitialVrf, C
        v_wr    MulVrf, OLD
        v_wr    AddSubVrf1, CELL
        product C, 10, SUMH + 3 * R     # o
        v_sigm
        v_wr    MulVrf, GATE

        v_rd    AddSubVrf1, CELL        # h
        v_tanh
        vv_mul  GATE
        v_wr    InitialVrf, H
        v_wr    NetOutQ
        .endr
        end_chain

        .data
matrices:
        .npy    "matrices.npy"
biases: .npy    "biases.npy"
zeros:  .zero   R * 8
