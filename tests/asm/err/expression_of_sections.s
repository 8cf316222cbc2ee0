# Addresses of two sections have no distance before they lie.
a:      .word   1
        .section .rodata
b:      .word   2
        .space  b - a                     #! error 17-22: the value must be known here: it depends on where its section lies
