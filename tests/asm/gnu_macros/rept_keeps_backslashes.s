# .rept leaves \() and \name to what stands in it.
i_t = 5
f_t = 6
        .rept   2
        .irp    gate, i, f
        .word   \gate\()_t
        .endr
        .irpc   digit, 12
        .byte   \digit\(0)
        .endr
        .endr
