# nnp_mlp.s - a multilayer perceptron of 48, 40 and 32 inputs to 10 outputs, ReLU between, eight
# vectors at once: a layer is one chain, its iterations are the vectors.

        .device base
        .equ    ITEMS, 8
        .input  x, float16, ITEMS * 2, 32, at=netin
        .output y, float16, ITEMS, 32, at=netout

        .core   nnp
        .hint   tensor W1, MatrixRf, 0, 40, 48
        .hint   tensor W2, MatrixRf, 4, 32, 40
        .hint   tensor W3, MatrixRf, 6, 10, 32
        .hint   tensor b1, AddSubVrf0, 0, 1, 40
        .hint   tensor b2, AddSubVrf0, 2, 1, 32
        .hint   tensor b3, AddSubVrf0, 3, 1, 10
        .hint   tensor x, NetInQ, 0, ITEMS, 48
        .hint   tensor y, NetOutQ, 0, ITEMS, 10

        SetCols(7)                      # all tiles: 2 x 2, 1 x 2 and one
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        SetCols(4)
        v_rd    Dram, 7 * 32            # the biases, behind seven tiles of 32 vectors
        v_wr    AddSubVrf0, 0

# Vectors of the layer between: InitialVrf from 0 and from HALF on.
        .equ    HALF, ITEMS * 2
        SetIterations(ITEMS)
        SetRowsCols(2, 2)
        v_rd    NetInQ
        mv_mul  0
        vv_add  AddSubVrf0, 0
        v_relu
        v_wr_inc InitialVrf, 0, 2
        SetRows(1)
        v_rd_inc InitialVrf, 0, 2
        mv_mul  4
        vv_add  AddSubVrf0, 2
        v_relu
        v_wr_inc InitialVrf, HALF, 1
        SetCols(1)
        v_rd_inc InitialVrf, HALF, 1
        mv_mul  6
        vv_add  AddSubVrf0, 3
        v_wr    NetOutQ
        end_chain

        .data
        .npy    "matrices.npy"
        .npy    "biases.npy"
