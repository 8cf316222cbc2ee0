# .L names are of their file.
        .word   .Lthere                   #! error 17-24: undefined symbol '.Lthere'
