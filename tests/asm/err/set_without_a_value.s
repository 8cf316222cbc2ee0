# .set and .equ take a name and a value.
        .set    x                         #! error 9-18: .set takes other operands | write .set NAME, value
        .equ    5, 1                      #! error 9-21: .equ takes other operands | write .equ NAME, value
        .equiv                            #! error 9-15: .equiv takes other operands | write .equiv NAME, value
