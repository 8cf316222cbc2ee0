# A chain as the firmware of the seed writes it, with brackets.
        .core   nnp
        SetIterations(2); SetRowsCols(1, 1)
        v_rd(NetInQ)
        mv_mul(3)
        vv_add(AddSubVrf0, 2 * BIAS)
        v_sigm()
        vv_mul_inc(a=0, inc=1)
        v_wr(NetOutQ)
        end_chain()
        .equ    BIAS, 4
