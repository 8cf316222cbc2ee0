# A number may be shared, too; it has no section.
        .global LIMIT
        .globl  other
        .equ    LIMIT, 7
        .equ    other, -1
        .word   LIMIT
#! symbol LIMIT 0x7 0 notype -
#! symbol other 0xffffffff 0 notype -
#! global LIMIT other
