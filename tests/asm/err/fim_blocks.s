# Where words of fim stand: in blocks of banks, loops inside of them.
        .device base
        .core   fim, island=4             #! error 29-30: island: 4 is out of range, 0 to 3
        .core   fim, island=0
        act     1                         #! error 9-12: act is outside of a block | write it between .block and end
        .block  banks=0-16                #! error 25-27: bank: 16 is out of range, 0 to 15
        .block  banks=4-2                 #! error 23-26: the range 4-2 is empty
        .block  3                         #! error 9-18: .block takes other operands | write .block banks=RANGE, or banks=(RANGE, ...)
        .block  banks=(0, 1), bank=2      #! error 31-35: .block has no operand 'bank' | did you mean 'banks'?
        .block  banks=(0, 2-3)
          endloop                         #! error 11-18: endloop without loop
          loop  2
          .block banks=1                  #! error 11-17: block is inside of a block | end the block before it with end
        end
        .block  banks=2-5                 #! error 23-26: bank 2 is in two blocks of the program
        end
        block   0                         #! error 17-18: banks: 0 is out of range, 1 to 65535
        .block  banks=6
          act   row9                      #! error 17-21: 'row9' is no row register and no symbol | did you mean 'row3'?
          loop  2                         #! error 11-18: a loop without its endloop
        end
        .block  banks=7
          loop  1
          loop  1
          loop  1
          loop  1
          loop  1
          loop  1
          loop  1
          loop  1
          loop  1                         #! error 11-15: more than 8 loops inside of one another
          .rept 8
          endloop
          .endr
          endall                          #! error 11-17: endall is inside of a block | end the block before it with end
        .block  banks=8
          loop  65536                     #! error 17-22: n: 65536 is out of range, 1 to 65535
          loop  outside                   #! error 17-24: the value must be known here: 'outside' is not defined before
          endloop
          pre   1                         #! error 11-18: pre does not take 1 operand | write pre
