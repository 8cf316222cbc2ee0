# A macro may end a conditional that began outside, as in GNU as.
        .macro done
        .endif
        .endm
        .if 1
        .byte 1
        done
        .byte 2
#! bytes .data 0102
