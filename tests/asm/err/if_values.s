# A condition must be known; one that is wrong is taken for true.
        .core cp
        .if later                         #! error 13-18: the value must be known here: 'later' is not defined before
        nop
        .else
        addi a0, a0, 4096
        .endif
        .if                               #! error 9-12: .if takes other operands | write .if value
        .endif
        .ifeq 1, 2                        #! error 9-19: .ifeq takes other operands | write .ifeq value
        .endif
        .ifgt 1 2                         #! error 16-17: expected ',' before '2'
        .endif
        .if start                         #! error 13-18: the value must be known here: 'start' is not defined before
        .endif
        .if 1f                            #! error 13-15: the value must be known here: it is a label that follows
        .endif
        .if 0
        .elseif later                     #! error 17-22: the value must be known here: 'later' is not defined before
        .elseif nonsense
        .endif
        .if 1 / 0                         #! error 13-18: division by zero
        .endif
        .if )                             #! error 13-14: unexpected ')', expected an operand
        .endif
1:      j 1b
        .set later, 1
start:
