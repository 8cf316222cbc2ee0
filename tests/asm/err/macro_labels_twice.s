# A label of a body is defined once a call.
        .core cp
        .macro wait
loop:   j loop                            #! error 1-5: 'loop' is defined twice | the first is at tests/asm/err/macro_labels_twice.s:4
        .endm
        wait
        wait
