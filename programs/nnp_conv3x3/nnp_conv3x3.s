# nnp_conv3x3.s - a 3 x 3 convolution of 6 x 5 positions, 4 channels to 7, with padding, added to
# every second position of another volume (a shortcut), with ReLU.
#
# Set2dWindows gives the volume; v_rd reads a window an iteration (seed 003, Table 3). Stride 2: operands
# that advance skip every second position of their volume, here two native vectors wide.

        .device tiny
        .equ    WIDTH, 5
        .equ    HEIGHT, 6
        .equ    POSITIONS, 3 * 3        # with stride 2
        .equ    OUT, 2
        .output y, float16, POSITIONS * OUT, 4, at=netout

        .core   nnp
        .hint   tensor W, MatrixRf, 0, 7, 9 * 4
        .hint   tensor x, Dram, (image - matrix) / 8, HEIGHT * WIDTH, 4
        .hint   tensor other, AddSubVrf0, 0, HEIGHT * WIDTH, 7
        .hint   tensor y, NetOutQ, 0, POSITIONS, 7

        SetRowsCols(OUT, 9)             # nine positions of one native vector
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        SetCols(OUT)
        SetIterations(HEIGHT * WIDTH)
        v_rd_inc Dram, (shortcut - matrix) / 8, OUT
        v_wr_inc AddSubVrf0, 0, OUT

        SetCols(9)
        SetIterations(POSITIONS)
        Set2dWindows(WIDTH, HEIGHT, 3, 2, 1, 1)
        v_rd    Dram, (image - matrix) / 8
        mv_mul  0
        vv_add_inc AddSubVrf0, 0, OUT
        v_relu
        v_wr    NetOutQ
        end_chain

        .data
matrix: .npy    "matrix.npy"
image:  .npy    "image.npy"
shortcut:
        .npy    "shortcut.npy"
