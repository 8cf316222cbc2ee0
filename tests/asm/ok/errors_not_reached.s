# Errors that are skipped are none.
        .ifndef width
        .equ width, 4
        .endif
        .if width > 8
        .error "width is at most 8"
        .err
        .endif
        .byte width
#! bytes .data 04
