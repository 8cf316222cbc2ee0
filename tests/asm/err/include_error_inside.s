# Errors in included files.
        .core cp
        nop
        .include "include/wrong.inc"
        nop
#! error include/undefined.inc:1:11-18: undefined symbol 'nowhere'
#! error include/wrong.inc:2:22-26: imm: 4096 is out of range, -2048 to 2047
