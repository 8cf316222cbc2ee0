# Macros are found in any case, parameters not.
        .macro Big A
        .ascii "\A"
        .endm
        big 1
        BIG A=2
#! bytes .data 3132
