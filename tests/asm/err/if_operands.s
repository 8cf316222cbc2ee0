# What conditionals compare, and what stands behind .else and .endif.
        .core cp
        .ifdef                            #! error 9-15: .ifdef takes other operands | write .ifdef NAME
        .endif
        .ifndef a, b                      #! error 9-21: .ifndef takes other operands | write .ifndef NAME
        .endif
        .ifnotdef 5                       #! error 9-20: .ifnotdef takes other operands | write .ifnotdef NAME
        .endif
        .ifc a                            #! error 9-15: .ifc compares two texts | write .ifc text, text
        .endif
        .ifnc                             #! error 9-14: .ifnc compares two texts | write .ifnc text, text
        .endif
        .ifeqs a, b                       #! error 9-20: .ifeqs takes other operands | write .ifeqs "text", "text"
        .endif
        .ifnes "a"                        #! error 9-19: .ifnes takes other operands | write .ifnes "text", "text"
        .endif
        .ifdef a b                        #! error 9-19: .ifdef takes other operands | write .ifdef NAME
        .endif
        .if 1
        .else now                         #! error 9-18: .else takes other operands | write .else
        .endif now                        #! error 9-19: .endif takes other operands | write .endif
        .if 0
        .if 1
        .else this is skipped
        .endif so is this
        .elseif 1 )                       #! error 19-20: unexpected ')', expected ',' or the end of the line
        .endif
