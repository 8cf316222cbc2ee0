# A register group that a part uses twice, however it is spelt; a warning is no error, so there is one.
        .core   nnp
        trace_begin 3
        trace_end 3
        trace_begin(3)                    #! warning 21-22: register group 3 is used twice in this part
        trace_begin g=4
        trace_end 4
        trace_begin 4                     #! warning 21-22: register group 4 is used twice in this part
        v_sigm                            #! error 9-15: v_sigm is in no chain: v_rd begins one | rule begin: A chain of vectors begins with v_rd or v_rd_inc, a chain of tiles with m_rd.
        end_chain
