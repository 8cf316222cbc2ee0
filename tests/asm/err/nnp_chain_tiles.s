# Tiles are read and written, once, and MatrixRf is on one side.
        .core   nnp
        m_rd    Dram, 0
        v_relu                            #! error 9-15: v_relu is for vectors, m_rd reads tiles | rule tiles: m_rd is followed by one m_wr and nothing else; MatrixRf is either the source or the target.
        m_wr    MatrixRf, 0
        m_rd    Dram, 0
        v_wr    NetOutQ                   #! error 9-24: v_wr is for vectors, m_rd reads tiles | rule tiles: m_rd is followed by one m_wr and nothing else; MatrixRf is either the source or the target.
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        m_wr    MatrixRf, 1               #! error 9-28: m_rd has its m_wr already | rule tiles: m_rd is followed by one m_wr and nothing else; MatrixRf is either the source or the target.
        v_rd    NetInQ
        m_wr    MatrixRf, 0               #! error 9-28: m_wr is for tiles, v_rd reads vectors | rule tiles: m_rd is followed by one m_wr and nothing else; MatrixRf is either the source or the target.
        m_rd    Dram, 0
        m_wr    Dram, 8                   #! error 9-24: tiles go between Dram or NetInQ and MatrixRf, not from Dram to Dram | rule tiles: m_rd is followed by one m_wr and nothing else; MatrixRf is either the source or the target.
        m_rd    NetInQ
        m_wr    Dram, 8                   #! error 9-24: tiles go between Dram or NetInQ and MatrixRf, not from NetInQ to Dram | rule tiles: m_rd is followed by one m_wr and nothing else; MatrixRf is either the source or the target.
        m_rd    MatrixRf, 0
        m_wr    MatrixRf, 8               #! error 9-28: tiles go between Dram or NetInQ and MatrixRf, not from MatrixRf to MatrixRf | rule tiles: m_rd is followed by one m_wr and nothing else; MatrixRf is either the source or the target.
        end_chain
