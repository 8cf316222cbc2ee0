# What GNU as warns of, too.
        .core cp
        .macro need a:req=5               #! warning 21-28: the parameter 'a' is required; its default is never used
        li a0, \a
        .endm
        need                              #! error 9-13: macro 'need' needs the parameter 'a' | it is written need a:req
        need a=1 a=2                      #! warning 18-21: the parameter 'a' is given twice; the last value counts
        .purgem need, other               #! warning 23-28: there is no macro 'other'
        .macro .word x                    #! warning 16-21: '.word' is a directive; the macro is never called
        .endm
        .purgem ned                       #! warning 17-20: there is no macro 'ned'
