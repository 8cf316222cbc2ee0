# Nothing is in the instruction buffer: a warning.
        .core   pe
        exe     ib=7                      #! warning 20-21: instruction buffer 7 is executed before a config fills it
        mac                               #! error 9-12: mac is outside of a sequence | write it between .seq and .endseq
