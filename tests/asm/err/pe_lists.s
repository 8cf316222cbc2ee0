# Packet lists.
        .device tiny
        .core   pe, row=0
        trace_begin 0
        .list   a                         #! error 17-18: packets are before the first list | put all packets into lists, or none
        trace_begin 1
        .endlist
        .endlist                          #! error 9-17: .endlist without .list
        .core   pe, row=1
        .list                             #! error 9-14: .list takes other operands | write .list NAME
        .endlist
        .list   b
        .endlist
        trace_end 0                       #! error 9-18: trace_end is outside of a list | this part has lists; .list begins one
        .list   b                         #! error 17-18: 'b' is defined twice | the first is at tests/asm/err/pe_lists.s:12
        .endlist
        .list   c                         #! error 9-18: a list without its .endlist
        .list   d
        .endlist 4                        #! error 9-19: .endlist takes other operands | write .endlist
        .list   e                         #! error 9-18: a list without its .endlist
