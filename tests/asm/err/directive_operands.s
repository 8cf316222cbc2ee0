# Directives with operands that they do not take.
        .space                            #! error 9-15: .space takes other operands | write .space BYTES [, fill]
        .space  1, 2, 3                   #! error 9-24: .space takes other operands | write .space BYTES [, fill]
        .fill                             #! error 9-14: .fill takes other operands | write .fill REPEAT [, size [, value]]
        .align                            #! error 9-15: .align takes other operands | write .align POWER [, fill [, most]]
        .align  1, 2, 3, 4                #! error 9-27: .align takes other operands | write .align POWER [, fill [, most]]
        .equ    a                         #! error 9-18: .equ takes other operands | write .equ NAME, value
        .equ    5, a                      #! error 9-21: .equ takes other operands | write .equ NAME, value
        .set    b, 1, 2                   #! error 9-24: .set takes other operands | write .set NAME, value
        .global                           #! error 9-16: .global takes other operands | write .global NAME, ...
        .global 5                         #! error 17-18: a symbol is needed here
        .section                          #! error 9-17: .section takes other operands | write .section NAME [, "flags" [, @type [, size]]]
        .section 5                        #! error 18-19: the name of a section is needed here
        .type   a                         #! error 9-18: .type takes other operands | write .type NAME, function | notype | object | func
        .type   a, thing                  #! error 20-25: 'thing' is no type of a symbol | write .type NAME, function | notype | object | func
        .size   a                         #! error 9-18: .size takes other operands | write .size NAME, bytes
        .device                           #! error 9-16: .device takes other operands | write .device NAME
        .device 5                         #! error 17-18: the name of a device is needed here
        .data   5
        .npy                              #! error 9-13: .npy takes other operands | write .npy "file.npy" [[rows, ...]]
        .npy    5                         #! error 17-18: the name of a .npy file is needed here, in quotes
        .npy    "a.npy", "b.npy"          #! error 9-33: .npy takes other operands | write .npy "file.npy" [[rows, ...]]
        .size   a, -1                     #! error 20-22: a size is a number from 0 to 4294967295
a:
