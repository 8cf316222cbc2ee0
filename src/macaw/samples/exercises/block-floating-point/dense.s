# dense.s - y = W * x on nnp, with matrices of four bits. The result is too far from NumPy's.
#
# matrix.npy has the tiles of W, rest.npy what four bits with a shared exponent lose of them:
# W = quantised(W) + rest. The program does not use rest.npy yet.
        .device tiny
        .setting nnp.matrix_bits, 4
        .input  x, float16, 2, 4, at=netin
        .output y, float16, 1, 4, at=netout

        .core   nnp
        SetRowsCols(1, 2)
        m_rd    Dram, tile(W)
        m_wr    MatrixRf, 0             # two tiles: MatrixRf 0 and 1

        SetCols(2)                      # x is two native vectors
        v_rd    NetInQ
        mv_mul  0
        v_wr    NetOutQ
        end_chain

        .data
W:      .npy    "matrix.npy"
