# A repetition over values needs a name for them.
        .core cp
        .irp                              #! error 9-13: a name for the value is needed here | write .irp NAME, value, ...
        nop
        .endr
        .irp 1, 2                         #! error 9-13: a name for the value is needed here | write .irp NAME, value, ...
        nop
        .endr
        .irpc "ab"                        #! error 9-14: a name for the value is needed here | write .irpc NAME, characters
        nop
        .endr
