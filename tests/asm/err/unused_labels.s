# Labels for this file alone that nothing uses.
        .core   cp
_start: nop
.Lused: nop
.Lspare: nop                              #! warning 1-8: label '.Lspare' is not used
1:      nop                               #! warning 1-2: label '1' is not used
2:      j 2b
        j .Lused
        j nowhere                         #! error 11-18: undefined symbol 'nowhere'
