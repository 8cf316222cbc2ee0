# Addresses in instructions: la, lla, call, tail, %hi, %lo, %pcrel_hi, %pcrel_lo, loads by symbol.
_start: la      a0, data
        lla     a1, later
        la      a2, _start
        call    func
        call    t0, func
        tail    func
        jump    func, t1
1:      auipc   a3, %pcrel_hi(data + 8)
        addi    a4, a3, %pcrel_lo(1b)
        lw      a4, %pcrel_lo(1b)(a3)
        sw      a4, %pcrel_lo(1b)(a3)
        lui     a5, %hi(later)
        addi    a5, a5, %lo(later)
        lw      a5, %lo(later)(a5)
        sb      a5, %lo(data + 3)(a5)
        lui     a6, %hi(0x12345fff)
        addi    a6, a6, %lo(0x12345fff)
        lb      a0, data
        lh      a0, data + 2
        lw      a0, later
        lbu     a0, data
        lhu     a0, data
        sb      a0, data, t0
        sh      a0, data, t0
        sw      a0, later, t0
func:   ret
        .data
data:   .word   1, 2, 3, 4
later:  .word   data, later, func, later - data, func - _start
        .half   later - data
        .byte   . - data, 'x'
