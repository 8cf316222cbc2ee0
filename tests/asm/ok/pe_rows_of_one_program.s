# Each row is a part of its own; images stand on multiples of 64 in external memory.
        .core   pe, row=1
b:      .byte   2
        .core   pe, row=0
a:      .byte   1
        .data
        .word   load_address(a), load_address(b)
#! section .pe.0 0x10000000 1
#! section .pe.1 0x10100000 1
#! bytes .data 80000080 40000080
