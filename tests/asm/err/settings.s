# Fields and values that no device has, and lines that come too late.
        .device tiny
        .setting                          #! error 9-17: .setting takes other operands | write .setting FIELD, VALUE
        .setting pe.rows                  #! error 9-25: .setting takes other operands | write .setting FIELD, VALUE
        .setting 5, 5                     #! error 18-19: a field of the device is needed here
        .setting pe.row, 5                #! error 18-24: pe.row: no such field | did you mean 'pe.rows'?
        .setting pe.rows, 0               #! error 18-25: pe.rows: 0 is out of range, 1 to 16
        .setting pe.rows, many            #! error 18-25: pe.rows: 'many' is not a whole number; 1 to 16
        .setting pe.rows, 1.5             #! error 18-25: pe.rows: 1.5 is not a whole number; 1 to 16
        .setting pe.rows, undefined + 1   #! error 27-36: the value must be known here: 'undefined' is not defined before
        .setting name, "two words"        #! error 18-22: name: 'two words' is not letters, digits and . _ + -, 64 at most
        .setting nnp.native, 1024
        .setting nnp.matrix_rf, 65536     #! error 18-31: 65536 tiles (nnp.matrix_rf) of 1024 x 1024 (nnp.native) are more than the 512 MiB that can be simulated
        .core   pe, row=0
        .setting pe.rows, 1               #! error 18-25: .setting comes too late | write it after .device, before what depends on the device
