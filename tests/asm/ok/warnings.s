# A warning says its text and goes on.
        .warning "this is \"old\""        #! warning 9-35: this is "old"
        .macro old
        .warning "old is going"           #! warning 9-32: old is going
        .byte 1
        .endm
        old
        old
        .warning                          #! warning 9-17: the source has .warning here
#! bytes .data 0101
