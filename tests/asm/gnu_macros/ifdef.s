        .data
        .irp s, number, label, later, other, a0
        .ifdef \s
        .byte 1
        .else
        .byte 0
        .endif
        .ifndef \s
        .byte 1
        .else
        .byte 0
        .endif
        .ifnotdef \s
        .byte 2
        .endif
        number = 1
        .set later, after
        .endr
label:  .word later, other
        .ifdef label
        .byte 5
        .endif
        .ifdef other
        .byte 6
        .endif
after = 3
other = 4
        .comm common, 4
        .lcomm own, 4
        .weak no_definition
        .irp name, common, own, no_definition
        .ifdef \name
        .ascii "\name"
        .endif
        .endr
