# Files that include themselves.
        .core cp
        .include "include/itself.inc"
        addi a0, a0, 4096                 #! error 22-26: imm: 4096 is out of range, -2048 to 2047
#! error include/itself.inc:2:9-38: more than 100 includes in each other
