# In text that is skipped an .endif behind a label is none.
        .data
        .if 0
x:      .endif
        .byte 1
        .endif
        .byte 2
