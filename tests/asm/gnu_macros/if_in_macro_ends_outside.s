# As in GNU as a macro can end a conditional that began outside.
        .data
        .macro done
        .endif
        .endm
        .if 1
        .byte 1
        done
        .byte 2
