# Branches and jumps, forward and backward, by every pseudo-instruction.
start:  beq     a0, a1, end
        bne     x10, x11, start
        blt     a0, a1, 1f
        bge     a0, a1, 1f
1:      bltu    t0, t1, 1b
        bgeu    t0, t1, 1f
        bgt     a0, a1, 1b
        ble     a0, a1, start
1:      bgtu    a0, a1, start + 8
        bleu    a0, a1, end - 4
        beqz    s0, 1b
        bnez    s1, 1f
        blez    s2, end
        bgez    s3, 1f
        bltz    s4, start
        bgtz    s5, start
1:      j       start
        jal     end
        jal     t0, 1b
        jalr    a0
        jalr    8(a0)
        jalr    t0, a0
        jalr    t0, a0, 4
        jalr    t0, 4(a0)
        jr      a0
        jr      -4(a0)
        ret
        j       . + 8
        j       . - 8
        beq     zero, zero, .
end:    nop
