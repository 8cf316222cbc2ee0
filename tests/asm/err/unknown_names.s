# Mnemonics and directives that nobody knows, and what was meant.
        .core cp
        ad      a0, a1, a2                #! error 9-11: cp has no instruction 'ad' | did you mean 'and'?
        lww     a0, 4(sp)                 #! error 9-12: cp has no instruction 'lww' | did you mean 'lw'?
        qwertz  a0                        #! error 9-15: cp has no instruction 'qwertz' | 'macaw isa cp' lists what it has
        .wrod   1                         #! error 9-14: unknown directive '.wrod' | did you mean '.word'?
        .asci   "x"                       #! error 9-14: unknown directive '.asci' | did you mean '.asciz'?
        .frobnicate                       #! error 9-20: unknown directive '.frobnicate'
        mac     base=0                    #! error 9-12: cp has no instruction 'mac' | pe has it; this part is of cp
        .seq    s                         #! error 9-13: unknown directive '.seq' | parts of pe have it
        Add     a0, a1, a2                #! error 9-12: cp has no instruction 'Add' | did you mean 'add'?
        word    5                         #! error 9-13: cp has no instruction 'word' | did you mean '.word'?
