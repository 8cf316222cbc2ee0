# .ascii takes strings.
        .ascii  65                        #! error 17-19: a string is needed here
        .asciz  text                      #! error 17-21: a string is needed here
