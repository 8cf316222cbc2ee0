# Directives of GNU as that are not here: each says what to write instead, and stops nothing.
        .core   cp
        .file   x, 1                      #! error 9-14: unknown directive '.file' | leave it out
        .loc    x, 1                      #! error 9-13: unknown directive '.loc' | leave it out
        .ident  x, 1                      #! error 9-15: unknown directive '.ident' | leave it out
        .attribute x, 1                   #! error 9-19: unknown directive '.attribute' | leave it out
        .option x, 1                      #! error 9-16: unknown directive '.option' | leave it out
        .end    x, 1                      #! error 9-13: unknown directive '.end' | leave it out
        .cfi_startproc x, 1               #! error 9-23: unknown directive '.cfi_startproc' | leave it out
        .local  x, 1                      #! error 9-15: unknown directive '.local' | a name is its file's own unless .global shares it
        .extern x, 1                      #! error 9-16: unknown directive '.extern' | leave it out; .global in both files shares a name
        .weak   x, 1                      #! error 9-14: unknown directive '.weak' | there are no weak symbols; .global shares a name
        .comm   x, 1                      #! error 9-14: unknown directive '.comm' | write a label and .space in .bss, and .global
        .lcomm  x, 1                      #! error 9-15: unknown directive '.lcomm' | write a label and .space in .bss
        .org    x, 1                      #! error 9-13: unknown directive '.org' | write .space or .balign
        .print  x, 1                      #! error 9-15: unknown directive '.print' | write .warning
        .altmacro x, 1                    #! error 9-18: unknown directive '.altmacro' | parameters are written \name here
        .pushsection x, 1                 #! error 9-21: unknown directive '.pushsection' | write .section, and the section's name again to go back
        .popsection x, 1                  #! error 9-20: unknown directive '.popsection' | write the name of the section to go back to
        .previous x, 1                    #! error 9-18: unknown directive '.previous' | write the name of the section to go back to
        .subsection x, 1                  #! error 9-20: unknown directive '.subsection' | write the data in the order that they shall have
        .uleb128 x, 1                     #! error 9-17: unknown directive '.uleb128' | write the bytes with .byte
        .rep    2                         #! error 9-13: unknown directive '.rep' | did you mean '.rept'?
        .byte   0
        .endr
        .irep   x, 1                      #! error 9-14: unknown directive '.irep' | did you mean '.irp'?
        .byte   \x
        .endr
        .if     1
        .endc                             #! error 9-14: unknown directive '.endc' | did you mean '.endif'?
        .type   f, @function              #! error 20-21: unexpected character '@' | words stand without '@', as in '.type f, function'
        .balign 4
f:      ret
