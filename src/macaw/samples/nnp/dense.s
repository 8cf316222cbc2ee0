# dense.s - a dense layer on nnp, the matrix-vector processor: y = relu(W * x + b), three times
#
# nnp works on native vectors: four elements on this device. A matrix is cut into tiles of 4 x 4,
# a vector into pieces of 4. W is 4 x 8: two tiles, and two pieces of x meet them. Matrices and
# vectors are quantised to block floating point: elements of few bits that share an exponent. So
# results are near to those of NumPy, not equal.

        .device tiny
        .equ    ITEMS, 3                # vectors x that the layer gets, one after the other

# You give x to a run and get y from it, through nnp's queues; a row is a native vector.
        .input  x, float16, ITEMS * 2, 4, at=netin
        .output y, float16, ITEMS, 4, at=netout

        .core   nnp                     # from here on: the program of nnp

# A chain begins with a read and ends with a write; what is between works on the vectors on their
# way. These two fill the register files: matrices go to MatrixRf, what is added to AddSubVrf0.
        SetRowsCols(1, 2)               # the next chains work on 1 x 2 tiles
        m_rd    Dram, 0                 # .data below, from its first vector on
        m_wr    MatrixRf, 0
        SetCols(1)
        v_rd    Dram, 2 * 4             # the biases, after two tiles of four vectors
        v_wr    AddSubVrf0, 0

        SetCols(2)                      # x is two native vectors
        SetIterations(ITEMS)            # the chain runs once for each x
        v_rd    NetInQ
        mv_mul  0                       # W, from MatrixRf 0
        vv_add  AddSubVrf0, 0           # b
        v_relu
        v_wr    NetOutQ
        end_chain                       # the program ends

        .data                           # what nnp calls Dram
        .npy    "matrix.npy"            # float16 (2, 4, 4): the tiles of W
        .npy    "bias.npy"              # float16 (4)
