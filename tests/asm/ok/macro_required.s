# Parameters that must be given, by position or by name.
        .macro pair a:req, b:req
        .ascii "\a-\b;"
        .endm
        pair 1, 2
        pair b=1, a=2
#! bytes .data 312d323b 322d313b
