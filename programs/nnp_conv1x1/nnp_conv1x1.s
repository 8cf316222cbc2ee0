# nnp_conv1x1.s - a 1 x 1 convolution of 3 x 4 positions, 6 channels to 10, with bias and ReLU.
#
# Each position is one iteration of a single chain (seed 003, Table 2). Its channels are two
# native vectors, which `cols` joins (column scaling); `rows` says how many come out.

        .device tiny
        .equ    POSITIONS, 3 * 4
        .equ    IN, 2                   # native vectors of a position
        .equ    OUT, 3
        .output y, float16, POSITIONS * OUT, 4, at=netout

        .core   nnp
        .hint   tensor W, MatrixRf, 0, 10, 6
        .hint   tensor b, AddSubVrf0, 0, 1, 10
        .hint   tensor x, Dram, (image - matrix) / 8, POSITIONS, 6
        .hint   tensor y, NetOutQ, 0, POSITIONS, 10

        SetRowsCols(OUT, IN)
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        SetCols(OUT)
        v_rd    Dram, (bias - matrix) / 8
        v_wr    AddSubVrf0, 0
        SetCols(IN)
        SetIterations(POSITIONS)
        v_rd_inc Dram, (image - matrix) / 8, IN         # the next position
        mv_mul  0
        vv_add_inc AddSubVrf0, 0, 0                     # the same bias each time
        v_relu
        v_wr    NetOutQ
        end_chain

        .data
matrix: .npy    "matrix.npy"
bias:   .npy    "bias.npy"
image:  .npy    "image.npy"
