# Parts of symbols that there are not; places that a tensor does not have.
        .device tiny
        .input  x, int8, 4, 8
        .core   cp
        li      a0, slot(x + 1, 0)        #! error 26-31: slot takes a tensor, or a part of one
        li      a0, slot(x, 0)            #! error 21-31: 'x' has no slot in row 0 | a tensor has one where an exe names it
        li      a0, slot(x, 7)            #! error 21-31: 'x' has no slot in row 7 | a tensor has one where an exe names it
        .word   sizeof("file"[0])         #! error 24-33: a symbol is needed here, not a string
        .word   label[0]                  #! error 17-25: 'label' has no elements to choose from | a tensor, .npy, .sparse or .dense has
        .word   w[0:1]                    #! error 17-23: 'w' takes the number of a round, 0 to 0
        .word   w[0, 0]                   #! error 17-24: 'w' takes the number of a round, 0 to 0
        .word   w[1]                      #! error 19-20: rounds of 'w': 1 is out of range, 0 to 0
        .word   x[0:2, 0]                 #! error 19-22: only the last of the numbers may be a range
        .word   x[4]                      #! error 19-20: 'x' in dimension 0: 4 is out of range, 0 to 3
        .word   x[0, 9:10]                #! error 22-23: 'x' in dimension 1: 9 is out of range, 0 to 8
        .space  w[0]                      #! error 17-18: the value must be known here: 'w' is not defined before
label:  .word   1
w:      .sparse "weights.npy"[0:2]
        .bss
        .word   label                     #! error 9-22: .bss holds zeros, no data
