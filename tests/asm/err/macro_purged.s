# A macro that is forgotten is none.
        .core cp
        .macro gone
        nop
        .endm
        gone
        .purgem gone
        gone                              #! error 9-13: cp has no instruction 'gone' | 'macaw isa cp' lists what it has
        .purgem                           #! error 16-17: the name of a macro is needed here
        .purgem gone gone                 #! error 22-26: unexpected 'gone' | write .purgem NAME, ...
        .purgem 5                         #! error 16-17: the name of a macro is needed here
#! warning 10:17-21: there is no macro 'gone'
