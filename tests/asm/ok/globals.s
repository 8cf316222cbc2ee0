# Shared symbols, types and sizes.
        .global a, b
        .globl  c
        .core   cp
a:      nop
b:      nop
        nop
        .size   b, . - b
local:  nop
        .type   local, object
        .data
c:      .word   1
        .type   c, function
        .size   c, 2
        .equ    n, 5
        .type   n, notype
#! global a b c
#! symbol a 0x10000 4 func .text.cp
#! symbol b 0x10004 8 func .text.cp
#! symbol local 0x1000c 4 object .text.cp
#! symbol c 0x80000000 2 func .data
