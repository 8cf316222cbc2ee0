# Addresses near and far: la, call, %hi and %lo, %pcrel_hi and %pcrel_lo, branches by number.
        .core   cp
_start: la      a0, data
        la      a1, .
        call    func
        tail    func
1:      auipc   a2, %pcrel_hi(data + 4)
        lw      a3, %pcrel_lo(1b)(a2)
        sw      a3, %pcrel_lo(1b)(a2)
        lui     a4, %hi(data)
        addi    a4, a4, %lo(data)
        lw      a5, data
        sw      a5, data, t0
        call    . + 8
        li      a0, data
func:   beq     a0, a1, _start
        jal     0x10000
        j       0x10004
        .data
data:   .word   func, _start - func
#! at .text.cp+0x00 1705ff7f 13050500 97050000 93850500
#! at .text.cp+0x10 97000000 e7804004 17030000 6700c303
#! at .text.cp+0x20 1706ff7f 832646fe 2322d6fe
#! at .text.cp+0x2c 37070080 13070700
#! at .text.cp+0x34 9707ff7f 83a7c7fc 9702ff7f 23a2f2fc
#! at .text.cp+0x44 97000000 e7808000 37050080 13050500
#! at .text.cp+0x54 e306b5fa eff09ffa 6ff09ffa
#! at .data 54000100 acffffff
