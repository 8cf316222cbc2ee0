# digits_nnp.s - the digits network on the matrix-vector processor: 64 - 64 - 64 - 10, ReLU between,
# 400 images of 8 x 8 pixels one after the other.
#
# An image is two native vectors. The weights stay in MatrixRf: a layer is one chain, its iterations
# are the images, so 16 instructions compute 400 images.

        .device base
        .equ    IMAGES, 400
        .equ    N, 32
        .input  x, float16, IMAGES * 2, N, at=netin
        .output y, float16, IMAGES, N, at=netout

        .core   nnp
        .hint   tensor W1, MatrixRf, 0, 64, 64
        .hint   tensor W2, MatrixRf, 4, 64, 64
        .hint   tensor W3, MatrixRf, 8, 10, 64
        .hint   tensor b1, AddSubVrf0, 0, 1, 64
        .hint   tensor b2, AddSubVrf0, 2, 1, 64
        .hint   tensor b3, AddSubVrf0, 4, 1, 10
        .hint   tensor x, NetInQ, 0, IMAGES, 64
        .hint   tensor y, NetOutQ, 0, IMAGES, 10

        SetCols(10)                     # the tiles of all matrices
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        SetCols(5)                      # the biases, behind them
        v_rd    Dram, 10 * N
        v_wr    AddSubVrf0, 0

        .equ    FIRST, 0                # InitialVrf: what the layers give
        .equ    SECOND, IMAGES * 2
        SetIterations(IMAGES)
        SetRowsCols(2, 2)
        v_rd    NetInQ
        mv_mul  0
        vv_add  AddSubVrf0, 0
        v_relu
        v_wr_inc InitialVrf, FIRST, 2
        v_rd_inc InitialVrf, FIRST, 2
        mv_mul  4
        vv_add  AddSubVrf0, 2
        v_relu
        v_wr_inc InitialVrf, SECOND, 2
        SetRows(1)
        v_rd_inc InitialVrf, SECOND, 2
        mv_mul  8
        vv_add  AddSubVrf0, 4
        v_wr    NetOutQ
        end_chain

        .data
        .npy    "w.npy"
        .npy    "b.npy"
