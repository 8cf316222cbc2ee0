# A macro has a name.
        .core cp
        .macro                            #! error 9-15: a macro needs a name | write .macro NAME [parameter[:req | :vararg | =default], ...]
        nop
        .endm
        .macro 1st                        #! error 9-15: a macro needs a name | write .macro NAME [parameter[:req | :vararg | =default], ...]
        .endm
