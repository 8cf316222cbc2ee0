# Advice has no effect.
        .hint   anything, at=all, "x", (1, 2)
        .hint
        .byte   1
#! bytes .data 01
