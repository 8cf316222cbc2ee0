# What macros are for.
        .data
        .set index, 0
        .macro entry name, bits:vararg
        .equ \name, index
        .byte \name
        .irp b, \bits
        .byte 1 << \b
        .endr
        .set index, index + 1
        .endm
        entry RED, 0, 1
        entry GREEN, 3
        entry BLUE, 5, 6, 7
        .byte RED, GREEN, BLUE, index
