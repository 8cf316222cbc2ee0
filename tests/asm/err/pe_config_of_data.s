# What it names is a sequence.
        .core   pe
x:      .byte   1, 2
        .balign 4
v:      .array  int8, 4
        config  ib=0, v                   #! error 23-24: 'v' is no sequence
        config  ib=0, nowhere             #! error 23-30: undefined symbol 'nowhere'
