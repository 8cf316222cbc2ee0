# A chain that a macro makes: the way to it is shown.
        .core   nnp
        .macro  gate matrix, function
        v_rd    InitialVrf, 0
        mv_mul  \matrix
        \function                         #! error 9-18: no block is left for mv_mul: the matrix-vector multiplier has one, which mv_mul uses | rule blocks: Each block of a unit works once a chain: the multiplier's one; in MFU0 one adds, one multiplies, one activates; in MFU1 one adds, one activates.; the same in 2 more expansions
        v_sigm
        v_wr    NetOutQ
        .endm
        gate    0, v_relu
        .rept   3
        gate    4, "mv_mul 4"
        .endr
        end_chain
