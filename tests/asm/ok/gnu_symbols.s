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
        .word   "a name", "a number"
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
#! bytes .text.cp 13000000 10000100 07000000
#! bytes .text.cp 02000000 1c000100 0a000000 24000100
