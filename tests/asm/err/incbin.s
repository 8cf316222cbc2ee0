# Parts that a file does not have.
        .core cp
        .data
        .incbin "include/none.bin"        #! error 17-35: there is no file 'include/none.bin' below the source's folder or a -I folder
        .incbin                           #! error 9-16: .incbin takes other operands | write .incbin "FILE" [, skip [, count]]
        .incbin include                   #! error 9-24: .incbin takes other operands | write .incbin "FILE" [, skip [, count]]
        .incbin "include/six.bin", 7      #! error 36-37: skip: 7 is out of range, 0 to 6
        .incbin "include/six.bin", -1     #! error 36-38: skip: -1 is out of range, 0 to 6
        .incbin "include/six.bin", 2, 5   #! error 39-40: count: 5 is out of range, 0 to 4
        .incbin "include/six.bin", later  #! error 36-41: the value must be known here: 'later' is not defined before
        .incbin "include/six.bin", 1, 2, 3  #! error 9-43: .incbin takes other operands | write .incbin "FILE" [, skip [, count]]
        .incbin "include/six.bin" 1       #! error 34-35: expected ',' before '1'
        .set later, 1
