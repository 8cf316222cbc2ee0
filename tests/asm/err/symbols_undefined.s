# Names that nothing defines.
        .core cp
_start: j       strat                     #! error 17-22: undefined symbol 'strat' | did you mean '_start'?
        la      a0, tabel                 #! error 21-26: undefined symbol 'tabel' | did you mean 'table'?
table:  .word   missing                   #! error 17-24: undefined symbol 'missing'
        .word   table - missing2          #! error 25-33: undefined symbol 'missing2'
        call    nowhere                   #! error 17-24: undefined symbol 'nowhere'
        addi    a0, a0, t0                #! error 25-27: undefined symbol 't0' | it is a register; a number is needed here
        j       1f
1:      j       2b                        #! error 17-19: there is no local label '2:' before this line
        .equ    x, y + 1                  #! error 20-21: undefined symbol 'y'
        .word   sizeof(nothing)           #! error 24-31: undefined symbol 'nothing'
        .word   nothing[1]                #! error 17-24: undefined symbol 'nothing'
        .size   none, 4                   #! error 17-21: undefined symbol 'none'
        .type   none2, function           #! error 17-22: undefined symbol 'none2'
