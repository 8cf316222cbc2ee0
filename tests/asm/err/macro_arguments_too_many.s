# More arguments than parameters.
        .core cp
        .macro copy to, from=a0
        mv \to, \from
        .endm
        .macro stop
        nop
        .endm
        copy a0, a1, a2                   #! error 22-24: macro 'copy' takes at most 2 arguments | it is written copy to, from=a0
        stop now                          #! error 14-17: macro 'stop' takes no argument | it is written stop
        copy a0 a1 a2 a3                  #! error 20-25: macro 'copy' takes at most 2 arguments | it is written copy to, from=a0
