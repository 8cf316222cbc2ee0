# Directives of GNU as that are not here, with what to write instead, and wrong operands of others.
        .core   cp
        .altmacro                         #! error 9-18: unknown directive '.altmacro' | parameters are written \name here
        .struct 0                         #! error 9-16: unknown directive '.struct' | write .equ for each member, as in '.equ member, 4'
        .reloc  0, R_RISCV_NONE, x        #! error 9-15: unknown directive '.reloc' | an instruction with the symbol makes its relocation
        .local  x, 1                      #! error 20-21: a symbol is needed here
        .weak   x, 1                      #! error 20-21: a symbol is needed here
        .comm   x                         #! error 9-18: .comm takes other operands | write .comm NAME, bytes [, align]
        .comm   x, -1                     #! error 20-22: size: -1 is out of range, 0 to 1073741824
        .comm   x, 4, 3                   #! error 23-24: an alignment is a power of two, not 3
        .lcomm  x, 1, 2, 3                #! error 9-27: .lcomm takes other operands | write .lcomm NAME, bytes [, align]
        .eqv    x                         #! error 9-18: .eqv takes other operands | write .eqv NAME, value
        .org    x, 1                      #! error 17-18: the value must be known here: 'x' is not defined before
        .print  x, 1                      #! error 9-21: .print takes other operands | write .print "text"
        .previous                         #! error 9-18: no section was left before
        .popsection                       #! error 9-20: '.popsection' without '.pushsection'
        .popsection x, 1                  #! error 9-25: .popsection takes other operands | write .popsection
        .previous x, 1                    #! error 9-23: .previous takes other operands | write .previous
        .subsection x, 1                  #! error 9-25: .subsection takes other operands | write .subsection NUMBER
        .subsection -1                    #! error 21-23: subsection: -1 is out of range, 0 to 8192
        .pushsection x, 1                 #! error 22-23: a part of cp has no section 'x' | there are .text, .data, .rodata, .bss, .data.cp
        .popsection
        .section x, 5                     #! error 21-22: the flags of a section are needed here, as in "aw"
        .section x, "aq"                  #! error 21-25: a section has no flag 'q' | a is in memory, w is written, x holds instructions
        .section x, "awT"                 #! error 21-26: there are no threads, and no sections for them
        .section x, "aw", progbit         #! error 27-34: the type of a section is needed here, as in @progbits
        .section x, "awM", @progbits, 0   #! error 39-40: size of an element: 0 is out of range, 1 to 65536
        .section x y                      #! error 18-21: the name of a section is needed here
        .octa   0x1ffffffffffffffffffffffffffffffff  #! error 17-52: the number does not fit 128 bits
        .uleb128 undefined                #! error 18-27: the value must be known here: 'undefined' is not defined before
        .word   1, 2
        .org    4                         #! error 17-18: the section is at 8 already, 4 is before it
        .org    1, 2, 3                   #! error 9-24: .org takes other operands | write .org OFFSET [, fill]
        .org    elsewhere                 #! error 17-26: the value must be known here: 'elsewhere' is not defined before
        .previous                         #! error 9-18: no section was left before
        .eqv    twice, 2
        .eqv    twice, 3                  #! error 17-22: 'twice' is defined twice | the first is at tests/asm/err/gnu_directives.s:36
        .word   in_debug                  #! error 9-25: the label is in a section that no program loads
        .type   f, @functio               #! error 20-28: '@functio' is no type of a symbol | did you mean 'function'?
        .insn                             #! error 9-14: .insn takes other operands | write .insn FORMAT OPCODE, ... | .insn [4,] WORD
        .balign 4
f:      ret
        .data
elsewhere: .word 1
        .org    f                         #! error 17-18: the place is in another section
        .section .debug_info,"",@progbits
in_debug: .word nothing
        .end
        anything
