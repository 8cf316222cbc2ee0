# A string loses its quotes; two quotes are one; an escape stays.
        .data
        .macro two a, b
        .if 0
        [\a|\b]
        .endif
        .ifc \a,x y
        .byte 1
        .endif
        .ifc \b,z
        .byte 2
        .endif
        .endm
        .macro show a, b
        .asciz "\a"
        .asciz "\b"
        .endm
        two "x y", "z"
        two "x y""z"
        two "x y"z
        two "x y", z
        show "x, y" "\\"
        show "\"q\"" "a\tb"
        show "" 2
        show "# no comment", "; no end"
