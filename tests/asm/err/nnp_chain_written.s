# A chain ends with its writes, and nothing stands between them.
        .core   nnp
        v_rd    NetInQ
        end_chain                         #! error 9-18: the chain of v_rd writes nothing: v_wr is missing before end_chain | rule written: A chain of vectors ends with one or more v_wr or v_wr_inc, a chain of tiles with m_wr. s_wr and markers may only be between chains.
        v_rd    NetInQ
        v_rd    NetInQ                    #! error 9-23: the chain of v_rd writes nothing: v_wr is missing before v_rd | rule written: A chain of vectors ends with one or more v_wr or v_wr_inc, a chain of tiles with m_wr. s_wr and markers may only be between chains.
        v_wr    NetOutQ
        v_relu                            #! error 9-15: v_relu stands after v_wr, which ends a chain | rule written: A chain of vectors ends with one or more v_wr or v_wr_inc, a chain of tiles with m_wr. s_wr and markers may only be between chains.
        v_wr    NetOutQ
        v_rd    NetInQ
        SetCols(1)                        #! error 9-19: the chain of v_rd writes nothing: v_wr is missing before s_wr | rule written: A chain of vectors ends with one or more v_wr or v_wr_inc, a chain of tiles with m_wr. s_wr and markers may only be between chains.
        v_wr    NetOutQ                   #! error 9-24: v_wr is in no chain: v_rd begins one | rule begin: A chain of vectors begins with v_rd or v_rd_inc, a chain of tiles with m_rd.
        v_rd    NetInQ
        trace_begin 1                     #! error 9-22: the chain of v_rd writes nothing: v_wr is missing before trace_begin | rule written: A chain of vectors ends with one or more v_wr or v_wr_inc, a chain of tiles with m_wr. s_wr and markers may only be between chains.
        m_rd    NetInQ
        v_rd    NetInQ                    #! error 9-23: the chain of m_rd writes nothing: m_wr is missing before v_rd | rule written: A chain of vectors ends with one or more v_wr or v_wr_inc, a chain of tiles with m_wr. s_wr and markers may only be between chains.
        v_relu                            #! error 9-15: the chain of v_rd writes nothing: v_wr is missing | rule written: A chain of vectors ends with one or more v_wr or v_wr_inc, a chain of tiles with m_wr. s_wr and markers may only be between chains.
