# .core wants one name.
        .core                             #! error 9-14: .core takes the name of a core | there are cp, vc, nnp, fim, pe
        .core   cp, cp                    #! error 9-23: .core takes the name of a core | there are cp, vc, nnp, fim, pe
        .core   "cp"                      #! error 9-21: .core takes the name of a core | there are cp, vc, nnp, fim, pe
