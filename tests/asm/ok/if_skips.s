# Text that is skipped is not read: only conditionals in it count.
        .if 0
        this is no ( statement
        .if nor this
        .elseif )
        .else (
        .endif
        .macro without end
        .include "nothing"
here:   .endif
        .endif
        .byte 1
#! bytes .data 01
