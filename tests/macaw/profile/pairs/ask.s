# cp sends a vector to nnp and waits for its result before it sends the next one. Mended: it sends
# all vectors, then takes all results.
        .device tiny
        .input  x, float16, 8, 4
        .output y, float16, 8, 4
        .equ    COUNT, 8
        .core   cp
_start: li      s0, COUNT
        la      s1, x
        la      s2, y
        la      s3, send
        la      s4, take
        li      t0, 3
        la      t1, layer
        core.start t0, t1
1:      sw      s1, 4(s3)
        dma.copy zero, s3
        .ifndef MENDED
        sw      s2, 0(s4)
        dma.copy zero, s4               # here
        dma.wait zero
        addi    s2, s2, 8
        .endif
        addi    s1, s1, 8
        addi    s0, s0, -1
        bnez    s0, 1b
        .ifdef  MENDED
        li      s0, COUNT
2:      sw      s2, 0(s4)
        dma.copy zero, s4
        dma.wait zero
        addi    s2, s2, 8
        addi    s0, s0, -1
        bnez    s0, 2b
        .endif
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
send:   .word   0x30380000, x, 8, 1, 0, 0
take:   .word   y, 0x303c0000, 8, 1, 0, 0
        .core   nnp
layer:  m_rd    Dram, (W - matrices) / 32
        m_wr    MatrixRf, 0
        SetIterations(COUNT)
        v_rd    NetInQ
        mv_mul  0
        v_relu
        v_wr    NetOutQ
        end_chain
        .data
        .balign 32
matrices:
W:      .float16 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1
