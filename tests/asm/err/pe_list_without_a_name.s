# A list wants one name.
        .core   pe
        .list                             #! error 9-14: .list takes other operands | write .list NAME
        .endlist
        .list   a, b                      #! error 9-21: .list takes other operands | write .list NAME
        .endlist
