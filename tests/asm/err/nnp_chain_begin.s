# A chain begins with a read.
        .core   nnp
        v_sigm                            #! error 9-15: v_sigm is in no chain: v_rd begins one | rule begin: A chain of vectors begins with v_rd or v_rd_inc, a chain of tiles with m_rd.
        v_tanh                          # of the same chain, which has its error
        v_wr    NetOutQ
        end_chain
        mv_mul  0                         #! error 9-18: mv_mul is in no chain: v_rd begins one | rule begin: A chain of vectors begins with v_rd or v_rd_inc, a chain of tiles with m_rd.
        v_wr    NetOutQ
        m_wr    MatrixRf, 0
        v_rd    NetInQ
        v_wr    NetOutQ
        end_chain
