# nnp_maxpool.s - the greatest of each 2 x 2 positions of a 6 x 4 volume of 3 channels.
#
# Windows of one position that step by two: operands that advance go to the next square. A chain has a
# maximum in each multi-function unit, so one takes three corners; another adds the fourth, which a
# third one has brought next to it.

        .device tiny
        .equ    WIDTH, 6
        .equ    HEIGHT, 4
        .equ    POSITIONS, WIDTH / 2 * (HEIGHT / 2)
        .output y, float16, POSITIONS, 4, at=netout

        .core   nnp
        .hint   tensor x, Dram, 0, WIDTH * HEIGHT, 3
        .hint   tensor y, NetOutQ, 0, POSITIONS, 3

        SetIterations(WIDTH * HEIGHT)
        v_rd_inc Dram, 0, 1
        v_wr_inc AddSubVrf0, 0, 1
        v_wr_inc AddSubVrf1, 0, 1

        .equ    THREE, 0                        # MulVrf: the greatest of three corners
        .equ    FOURTH, WIDTH * HEIGHT          # AddSubVrf0
        SetIterations(POSITIONS)
        Set2dWindows(WIDTH, HEIGHT, 1, 2, 0, 1)
        v_rd_inc Dram, 0, 1
        vv_max_inc AddSubVrf0, 1, 1             # to the right
        vv_max_inc AddSubVrf1, WIDTH, 1         # below
        v_wr_inc MulVrf, THREE, 1
        v_rd_inc AddSubVrf0, WIDTH + 1, 1
        v_wr_inc AddSubVrf0, FOURTH, 1
        Set2dWindows(1, 1, 1, 1, 0, 1)          # no windows any more
        v_rd_inc MulVrf, THREE, 1
        vv_max_inc AddSubVrf0, FOURTH, 1
        v_wr    NetOutQ
        end_chain

        .data
        .npy    "image.npy"
