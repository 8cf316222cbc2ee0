# As in GNU as an unknown \name stays; then the line has its error.
        .core cp
        .macro twice value
        addi \valeu, a0, 1                #! error 14-15: unexpected character '\' | did you mean '\value'?
        .endm
        twice a0
