# Addresses in Dram by labels: `vec` counts native vectors, `tile` native tiles. N is 4, of fp16.
        .device tiny
        .core   nnp
        m_rd    Dram, tile(W)
        m_wr    MatrixRf, 0
        v_rd    Dram, vec(b)
        v_wr    AddSubVrf0, 0
        v_rd    Dram, vec(b + 8) + 1
        v_wr    AddSubVrf0, 1
        .hint   tensor W, MatrixRf, 0, 4, 4
        end_chain
        .data
x:      .zero   32
W:      .zero   32
b:      .zero   32
#! bytes .nnp 01000003 00000406 08000002 00000705 0a000002 01000705 000000ff
