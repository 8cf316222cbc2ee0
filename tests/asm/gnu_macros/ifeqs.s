        .data
        .macro same x, y
        .ifeqs "\x","\y"
        .byte 1
        .else
        .byte 0
        .endif
        .ifnes "\x" , "\y"
        .byte 2
        .endif
        .endm
        same a, a
        same a, b
        same "a b" "a  b"
        same "\x41", A
        same
        same A a
