# The first place is said.
loop:   .word   1
loop:   .word   2                         #! error 1-5: 'loop' is defined twice | the first is at tests/asm/err/label_defined_twice.s:2
