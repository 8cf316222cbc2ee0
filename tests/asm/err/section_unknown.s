# A name that no section has.
        .section .txt                     #! error 18-22: outside of parts there is no section '.txt' | there are .data, .rodata, .bss; a core's part begins with .core
        .core   cp
        .section .heap                    #! error 18-23: a part of cp has no section '.heap' | there are .text, .data, .rodata, .bss, .data.cp
        .section 5                        #! error 18-19: the name of a section is needed here
        .section                          #! error 9-17: .section takes other operands | write .section NAME [, "flags" [, @type [, size]]]
