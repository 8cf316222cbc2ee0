# A chain that a macro makes: the way to it is shown.
        .core   nnp
        .macro  gate matrix, function
        v_rd    InitialVrf, 0
        mv_mul  \matrix
        \function                         #! error 9-18: no block is left for mv_mul: the matrix-vector multiplier has one, which mv_mul uses | rule blocks: A chain uses each block of a unit at most once. The multiplier has one block. MFU0 has a block that adds, one that multiplies, one that activates and one that quantises; MFU1 has one that adds, one that activates and one that quantises.; the same in 2 more expansions
        v_sigm
        v_wr    NetOutQ
        .endm
        gate    0, v_relu
        .rept   3
        gate    4, "mv_mul 4"
        .endr
        end_chain
