# What was probably meant.
        .bite   1                         #! error 9-14: unknown directive '.bite' | did you mean '.byte'?
        .wordd  2                         #! error 9-15: unknown directive '.wordd' | did you mean '.word'?
        .asciiz "text"                    #! error 9-16: unknown directive '.asciiz' | did you mean '.asciz'?
