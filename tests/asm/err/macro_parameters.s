# Wrong parameters; a macro with them is nothing, and its calls make no further mistake.
        .core cp
        .macro first a, b, a              #! error 28-29: two parameters are called 'a' | write .macro NAME [parameter[:req | :vararg | =default], ...]
        .endm
        .macro second a b:required        #! error 26-27: 'required' is no qualifier of a parameter | there are :req and :vararg
        .endm
        .macro third a:                   #! error 23-24: a qualifier should follow the colon | there are :req and :vararg
        .endm
        .macro fourth a, 5                #! error 26-27: the name of a parameter is needed here | write .macro NAME [parameter[:req | :vararg | =default], ...]
        .endm
        .macro fifth (a)                  #! error 22-23: the name of a parameter is needed here | write .macro NAME [parameter[:req | :vararg | =default], ...]
        .endm
        .macro sixth a,                   #! error 23-24: a parameter should follow the comma | write .macro NAME [parameter[:req | :vararg | =default], ...]
        .endm
        .macro seventh a:vararg, b        #! error 34-35: nothing can follow a :vararg parameter | write .macro NAME [parameter[:req | :vararg | =default], ...]
        .endm
        .macro eighth,                    #! error 22-23: a parameter should follow the comma | write .macro NAME [parameter[:req | :vararg | =default], ...]
        .endm
        first 1, 2                      # wrong macros are nothing, and no further mistake
        second 3
        seventh 4 5
