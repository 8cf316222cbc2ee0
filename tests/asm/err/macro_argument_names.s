# Names of parameters that are none, and order.
        .core cp
        .macro copy source, target
        mv \target, \source               #! error 19-20: unexpected ',', expected an operand
        .endm
        copy souce=a0, target=a1          #! error 14-19: macro 'copy' has no parameter 'souce' | did you mean 'source'?
        copy source=a0, a1                #! error 25-27: an argument by position after one by name | it is written copy source, target
        copy x=a0                         #! error 14-15: macro 'copy' has no parameter 'x' | it is written copy source, target
        copy (a0)=a1
        copy a0 +b=a1                     #! error 14-18: write the name of a parameter before '=' | it is written copy source, target
