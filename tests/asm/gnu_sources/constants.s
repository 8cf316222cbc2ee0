# li, in every length; operands written either way.
        li      a0, 0
        li      a0, 1
        li      a0, -1
        li      a0, 2047
        li      a0, 2048
        li      a0, -2048
        li      a0, -2049
        li      a0, 4095
        li      a0, 4096
        li      a0, 0x7ffff000
        li      a0, 0x7fffffff
        li      a0, 0x80000000
        li      a0, -0x80000000
        li      a0, 0xffffffff
        li      a0, 0xfffff000
        li      a0, 0xfffff7ff
        li      a0, 0x12345800
        li      a0, 0x12345678
        .equ    n, 40
        li      a0, n * 100 + 3
        addi    a0, a0, n
        lw      a0, n * 4(sp)
        sw      a0, -n(sp)
        andi    a0, a0, ~15
        slli    a0, a0, n / 8
        lui     a0, 0xfffff
        add     a0, a0, 5
        and     a0, a0, -16
        sll     a0, a0, 3
        mv      a0, a1
        not     a0, a1
        neg     a0, a1
        seqz    a0, a1
        snez    a0, a1
        sltz    a0, a1
        sgtz    a0, a1
        sgt     a0, a1, a2
        sgtu    a0, a1, a2
        nop
        fence
        fence   rw, w
        ecall
        ebreak
        csrr    a0, cycle
        csrw    0x7c0, a0
        csrwi   0x7c0, 5
        csrs    0x7c0, a0
        rdcycle a0
        rdinstreth a1
        unimp
