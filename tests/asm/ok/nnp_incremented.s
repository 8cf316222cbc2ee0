# Operands whose addresses advance from iteration to iteration.
        .core   nnp
        SetIterations(4)
        v_rd_inc InitialVrf, 0, 1
        mv_mul_inc 0, 1
        vv_add_inc AddSubVrf0, 0, 0     # a bias, the same each time
        vv_mul_inc 0, 1
        vv_max_inc AddSubVrf1, 8, 15
        v_wr_inc InitialVrf, 64, 1
        v_rd_inc Dram, 0, 2
        vv_a_sub_b_inc AddSubVrf0, 0, 1
        vv_b_sub_a_inc AddSubVrf1, 0, 1
        v_relu
        v_wr_inc Dram, 100, 2
        v_rd_inc AddSubVrf1, 0, 1
        v_add_inc AddSubVrf0, 0, 1      # as the seed spells it
        v_wr    NetOutQ
        end_chain
