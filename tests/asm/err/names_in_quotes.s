# A name in quotes needs letters that an object file can hold.
        .core   cp
"":     nop                               #! error 1-3: a symbol needs a name
"\n":   nop                               #! error 1-5: the name of a symbol has printable characters only
        .set    "a\tb", 5                 #! error 17-23: the name of a symbol has printable characters only
        "\x7f" = 6                        #! error 9-15: the name of a symbol has printable characters only
        .global "", fine                  #! error 17-19: a symbol needs a name
        .comm   "\0", 4                   #! error 17-21: the name of a symbol has printable characters only
        .type   "\33[31m", function       #! error 17-26: the name of a symbol has printable characters only
"any letters, é and %": nop
        j       "any letters, é and %"
fine:   nop
"a number" = )                            #! error 14-15: unexpected ')', expected an operand
        .word   "a number"
