# Each block of a unit works once a chain.
        .core   nnp
        v_rd    NetInQ
        mv_mul  0
        mv_mul  4                         #! error 9-18: no block is left for mv_mul: the matrix-vector multiplier has one, which mv_mul uses | rule blocks: A chain uses each block of a unit at most once. The multiplier has one block. MFU0 has a block that adds, one that multiplies, one that activates and one that quantises; MFU1 has one that adds, one that activates and one that quantises.
        v_wr    NetOutQ
        v_rd    NetInQ
        vv_add  AddSubVrf0, 0
        vv_a_sub_b_inc AddSubVrf0, 0, 1   #! error 9-40: no block is left for vv_a_sub_b_inc: MFU0 has one, which vv_add uses | rule blocks: A chain uses each block of a unit at most once. The multiplier has one block. MFU0 has a block that adds, one that multiplies, one that activates and one that quantises; MFU1 has one that adds, one that activates and one that quantises.
        v_wr    NetOutQ
        v_rd    NetInQ
        vv_mul  0
        vv_mul  1                         #! error 9-18: no block is left for vv_mul: MFU0 has one, which vv_mul uses | rule blocks: A chain uses each block of a unit at most once. The multiplier has one block. MFU0 has a block that adds, one that multiplies, one that activates and one that quantises; MFU1 has one that adds, one that activates and one that quantises.
        v_wr    NetOutQ
        v_rd    NetInQ
        v_relu
        v_sigm
        v_tanh                            #! error 9-15: no block is left for v_tanh: MFU0 has one, which v_relu uses, and MFU1 has one, which v_sigm uses | rule blocks: A chain uses each block of a unit at most once. The multiplier has one block. MFU0 has a block that adds, one that multiplies, one that activates and one that quantises; MFU1 has one that adds, one that activates and one that quantises.
        v_wr    NetOutQ
        v_rd    NetInQ
        vv_b_sub_a AddSubVrf1, 0
        v_sigm
        v_tanh                            #! error 9-15: no block is left for v_tanh: the chain is past MFU0 since vv_b_sub_a, and MFU1 has one, which v_sigm uses | rule blocks: A chain uses each block of a unit at most once. The multiplier has one block. MFU0 has a block that adds, one that multiplies, one that activates and one that quantises; MFU1 has one that adds, one that activates and one that quantises.
        v_wr    NetOutQ
        v_rd    NetInQ; vv_max AddSubVrf1, 0; vv_add AddSubVrf1, 0; v_wr NetOutQ  #! error 47-67: no block is left for vv_add: MFU1 has one, which vv_max uses | rule blocks: A chain uses each block of a unit at most once. The multiplier has one block. MFU0 has a block that adds, one that multiplies, one that activates and one that quantises; MFU1 has one that adds, one that activates and one that quantises.
        end_chain
