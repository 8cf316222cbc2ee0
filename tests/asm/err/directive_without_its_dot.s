# A forgotten dot is seen.
        .core   cp
        align   2                         #! error 9-14: cp has no instruction 'align' | did you mean '.align'?
        asciz   "x"                       #! error 9-14: cp has no instruction 'asciz' | did you mean '.asciz'?
