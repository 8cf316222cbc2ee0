# Macros in each other, repetitions, conditionals, an include and a file's bytes.
        .include "parts/macros.inc"
        .core   cp
_start: push    ra, s0; nop             # two statements on the line
        .rept   2
1:      addi    a0, a0, 1
        .endr
        .irp    register, a1, a2
        mv      \register, a0
        .endr
        .irpc   digit, 13
        .byte   \digit
        .endr
        .balign 4
        .if     . - _start > 64
        .error  "never"
        .elseif SIZE == 3
        words   SIZE, 2, 1
        .else
        ebreak
        .endif
        .macro  unused
        nop
        .endm
        ret
        .data
        .incbin "parts/blob.bin", 2, 5
end:    .include "parts/tail.inc"
