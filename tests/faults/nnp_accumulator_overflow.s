# 65504 * 65504 in units of 2^-24 each is beyond 2^73.
#! fault accumulator overflow: element 0 of row 0 leaves the accumulator's 74 bits at column 0
#! core nnp
        .device "small_floats.toml"
        .core   nnp
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        v_rd    Dram, 0
        mv_mul  0                       #! here
        v_wr    NetOutQ, 0
        end_chain
        .section .data
w:      .float16 65504, 65504, 65504, 65504
        .space  32
