# Texts as they stand, blanks squeezed.
        .macro is x, y
        .ifc \x, \y
        .byte 1
        .else
        .byte 0
        .endif
        .ifnc \x,\y
        .byte 2
        .endif
        .endm
        is a, a
        is a, A
        is "a  b" "a b"
        is
#! bytes .data 01 00020101
