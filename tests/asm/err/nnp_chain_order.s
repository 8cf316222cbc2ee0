# A chain goes through the multiplier, MFU0 and MFU1 in this order.
        .core   nnp
        v_rd    NetInQ
        v_relu
        mv_mul  0                         #! error 9-18: no block is left for mv_mul: the chain is past the matrix-vector multiplier since v_relu | rule order: A chain passes the matrix-vector multiplier, MFU0 and MFU1 in this order; within a unit, its instructions may have any order.
        v_wr    NetOutQ
        v_rd    NetInQ
        vv_add  AddSubVrf1, 0
        vv_add  AddSubVrf0, 0             #! error 9-30: no block is left for vv_add: the chain is past MFU0 since vv_add | rule order: A chain passes the matrix-vector multiplier, MFU0 and MFU1 in this order; within a unit, its instructions may have any order.
        v_wr    NetOutQ
        v_rd    NetInQ
        vv_max  AddSubVrf1, 0
        vv_mul  0                         #! error 9-18: no block is left for vv_mul: the chain is past MFU0 since vv_max | rule order: A chain passes the matrix-vector multiplier, MFU0 and MFU1 in this order; within a unit, its instructions may have any order.
        v_wr    NetOutQ
        v_rd    NetInQ
        v_sigm
        v_tanh                          # MFU1, for MFU0 activates once
        v_softmax                         #! error 9-18: no block is left for v_softmax: MFU0 has one, which v_sigm uses | rule blocks: A chain uses each block of a unit at most once. The multiplier has one block. MFU0 has a block that adds, one that multiplies, one that activates and one that quantises; MFU1 has one that adds, one that activates and one that quantises.
        v_wr    NetOutQ
        v_rd    NetInQ
        v_sigm
        v_tanh
        vv_mul  0                         #! error 9-18: no block is left for vv_mul: the chain is past MFU0 since v_tanh | rule order: A chain passes the matrix-vector multiplier, MFU0 and MFU1 in this order; within a unit, its instructions may have any order.
        v_wr    NetOutQ
        end_chain
