# The last parameter may take all that is left.
        .macro list first, more:vararg
        .ascii "\first:\more;"
        .endm
        list 1
        list 1, 2, 3
        list 1, x y  z
#! bytes .data 313a3b31 3a322c33 3b313a78 2079207a
#! bytes .data 3b
