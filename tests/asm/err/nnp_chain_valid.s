# A softmax is over elements that the chain has.
        .device tiny
        .core   nnp
        SetValid(5)
        v_rd    NetInQ
        v_softmax                         #! error 9-18: valid is 5, the chain has 4 elements | rule valid: v_softmax covers only elements that the chain has.
        v_wr    NetOutQ
        SetRowsCols(1, 2)
        v_rd    NetInQ
        v_softmax
        v_wr    NetOutQ
        v_rd    NetInQ
        mv_mul  0
        v_softmax                         #! error 9-18: valid is 5, the chain has 4 elements | rule valid: v_softmax covers only elements that the chain has.
        v_wr    NetOutQ
        end_chain
