# Nothing to end; the end takes no operands.
        .core   pe
        .endlist                          #! error 9-17: .endlist without .list
        .list   a
        .endlist a                        #! error 9-19: .endlist takes other operands | write .endlist
