# What no call expands has no mistakes.
        .macro never x
        nonsense \x, ((
        .endm
        .byte 1
#! bytes .data 01
