# Errors and warnings that a source says itself.
        .core cp
        .error "this part is not ready"   #! error 9-40: this part is not ready
        .error                            #! error 9-15: the source has .error here
        .err                              #! error 9-13: the source has .err here
        .err 5                            #! error 9-15: .err takes other operands | write .err
        .error 5                          #! error 9-17: .error takes other operands | write .error ["text"]
        .error "a", "b"                   #! error 9-24: .error takes other operands | write .error ["text"]
        .warning "think again"            #! warning 9-31: think again
        .warning                          #! warning 9-17: the source has .warning here
        .warning 1 + 1                    #! error 9-23: .warning takes other operands | write .warning ["text"]
        .macro need x
        .ifb \x
        .error "need takes a register"    #! error 9-39: need takes a register
        .exitm
        .endif
        nop
        .endm
        need
        need a0
        .ifdef missing
        .error "this is skipped"
        .endif
