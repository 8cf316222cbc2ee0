# function, object, notype.
x:      .word   1
        .type   x, functoin               #! error 20-28: 'functoin' is no type of a symbol | did you mean 'function'?
        .type   x, data                   #! error 20-24: 'data' is no type of a symbol | write .type NAME, function | notype | object | func
        .type   x                         #! error 9-18: .type takes other operands | write .type NAME, function | notype | object | func
