        .data
        .macro same x, y
        .ifc \x,\y
        .byte 1
        .else
        .byte 0
        .endif
        .ifnc \x,\y
        .byte 2
        .endif
        .endm
        same a, a
        same a, b
        same A, a
        same
        same a
        same "a b" "a  b"
        same "1 + 2" 1+2
        .ifc a b , a  b
        .byte 3
        .endif
        .ifc "a b","a  b"
        .byte 4
        .endif
        .ifc x,x,y
        .byte 5
        .endif
