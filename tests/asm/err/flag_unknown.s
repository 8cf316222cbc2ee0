# Flags are words of the table.
        .core   pe
        .seq    s
          mac   balanc                    #! error 17-23: undefined symbol 'balanc' | did you mean 'balance'?
        .endseq
