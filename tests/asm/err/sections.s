# Sections that there are not.
        .section .dta                     #! error 18-22: outside of parts there is no section '.dta' | did you mean '.data'?
        .section .text                    #! error 18-23: outside of parts there is no section '.text' | there are .data, .rodata, .bss; a core's part begins with .core
        .text                             #! error 9-14: outside of parts there is no section '.text' | there are .data, .rodata, .bss; a core's part begins with .core
        .core   cp
        .section .dat.cp                  #! error 18-25: a part of cp has no section '.dat.cp' | did you mean '.data.cp'?
        .section .foo                     #! error 18-22: a part of cp has no section '.foo' | there are .text, .data, .rodata, .bss, .data.cp
        .core   pe
        .section .data.cp                 #! error 18-26: a part of pe has no section '.data.cp' | did you mean '.data'?
