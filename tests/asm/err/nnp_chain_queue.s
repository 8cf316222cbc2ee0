# Queues have no addresses, and each has its one direction.
        .core   nnp
        v_rd    NetInQ, 4                 #! error 9-26: NetInQ has no addresses: a is 0, not 4 | rule queue: A queue has no addresses: its operands are 0.
        v_wr    NetOutQ, 0
        v_rd_inc NetInQ, 0, 1             #! error 9-30: NetInQ has no addresses: inc is 0, not 1 | rule queue: A queue has no addresses: its operands are 0.
        v_wr    NetOutQ
        v_rd    NetInQ
        v_wr_inc NetOutQ, 0, 2            #! error 9-31: NetOutQ has no addresses: inc is 0, not 2 | rule queue: A queue has no addresses: its operands are 0.
        m_rd    NetInQ, 1
        m_wr    MatrixRf, 0
        v_rd    NetOutQ, 0                #! error 17-24: mem: 'NetOutQ' is not one of Dram, MulVrf, NetInQ, InitialVrf, AddSubVrf0, AddSubVrf1 | NetOutQ is the queue of vectors that leave nnp; a chain cannot begin there
        v_rd    NetOutQ                   #! error 17-24: mem: 'NetOutQ' is not NetInQ | NetOutQ is the queue of vectors that leave nnp; a chain cannot begin there
        v_wr    NetInQ, 0                 #! error 17-23: mem: 'NetInQ' is not one of Dram, MulVrf, NetOutQ, InitialVrf, AddSubVrf0, AddSubVrf1 | NetInQ is the queue of vectors that come to nnp; a chain cannot be written there
        v_wr    NetInQ                    #! error 17-23: mem: 'NetInQ' is not NetOutQ | NetInQ is the queue of vectors that come to nnp; a chain cannot be written there
        v_rd    InitialVrf                #! error 17-27: mem: 'InitialVrf' is not NetInQ | InitialVrf has addresses: write v_rd mem, a
        v_rd    MatrixRf, 0               #! error 17-25: mem: 'MatrixRf' is not one of Dram, MulVrf, NetInQ, InitialVrf, AddSubVrf0, AddSubVrf1 | MatrixRf is tiles of matrices, quantised; a chain cannot begin there
        m_rd    NetOutQ, 0                #! error 17-24: mem: 'NetOutQ' is not one of Dram, NetInQ, MatrixRf | NetOutQ is the queue of vectors that leave nnp; tiles are not read from there
        m_wr    InitialVrf, 0             #! error 17-27: mem: 'InitialVrf' is not one of Dram, MatrixRf | InitialVrf is vectors for the multiplier, quantised; tiles are not written there
        vv_add  MulVrf, 0                 #! error 17-23: mem: 'MulVrf' is not one of AddSubVrf0, AddSubVrf1 | MulVrf is operands of vv_mul; the operand comes from AddSubVrf0 or AddSubVrf1
        v_rd    InitalVrf, 0              #! error 17-26: mem: 'InitalVrf' is not one of Dram, MulVrf, NetInQ, InitialVrf, AddSubVrf0, AddSubVrf1 | did you mean 'InitialVrf'?
        end_chain
