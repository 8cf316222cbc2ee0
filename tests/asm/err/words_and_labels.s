# Commas, colons and points that are forgotten.
        .core   cp
loop    addi    a0, a0, -1                #! error 5-6: expected ':' after the label 'loop'
        bnez    a0, loop
start                                     #! error 6-7: expected ':' after the label 'start'
        add     a0 a1, a2                 #! error 19-20: expected ',' before 'a1'
        add     a0, a1 a2                 #! error 23-24: expected ',' before 'a2'
        addi    a0, a0, #1                #! error 24-25: the line ends where an operand should be | '#' begins a comment; write numbers without it
        nop     ; qqq                     #! error 19-22: cp has no instruction 'qqq' | ';' separates statements; a comment begins with '#'
2nd:    nop                               #! error 1-4: '2nd' is no number | a label begins with a letter, '_', '.' or '$'
        .nothing 5 @ (                    #! error 9-17: unknown directive '.nothing' | did you mean '.string'?
        li      a0, FFh                   #! error 21-24: undefined symbol 'FFh' | a hexadecimal number is written 0xFF
        csrr    a0, mstatus               #! error 21-28: no CSR is called 'mstatus' | there are cycle, time, instret, cycleh, timeh, instreth, mhartid, trace_mode, trace_begin, trace_num, trace_step, trace_overhead, ...; any other by its number
        .asciz  'hello'                   #! error 19-20: expected ',' before 'ello' | 'a' is one character; write a string in double quotes
