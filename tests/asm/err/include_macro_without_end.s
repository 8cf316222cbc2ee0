# A macro ends in the file in which it begins.
        .core cp
        .include "include/open_macro.inc"
        nop
        .endm                             #! error 9-14: '.endm' without '.macro'
#! error include/open_macro.inc:1:9-15: '.macro' without '.endm'
