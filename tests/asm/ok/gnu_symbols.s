# Symbols as compilers share them: weak, common, local, in quotes, and formulas.
        .core   cp
        .text
        .weak   missing, chosen
        .local  own
        .comm   shared, 5, 8
        .comm   own, 4, 4
        .comm   own2, 2
        .lcomm  room, 3, 2
        .lcomm  other, 4
        lui     a0, %hi(missing)
        call    chosen@plt
chosen: ret
"a name":
        nop
        .globl  "a name"
        "a number" = 7
        .word   "a name", "a number", sizeof("a name")
        .ifdef  "a number"
        .byte   1, 0, 0, 0
        .endif
        .ifndef "another number"
        .byte   2, 0, 0, 0
        .endif
        .set    n, 1
        .eqv    twice, 2 * n
        here == . - 4
        .word   twice, here
        .set    n, 5
        .word   twice, here
        .type   chosen, STT_FUNC
        .type   missing, @function      # without a definition
        .size   missing, 4
        .type   shared, %object
        .type   room, "object"
        .end
#! bytes .text.cp 37050000 97000000 e7808000 67800000
#! bytes .text.cp 13000000 10000100 07000000 28000000
#! bytes .text.cp 01000000 02000000
#! bytes .text.cp 02000000 28000100 0a000000 30000100
