# Required parameters without a value.
        .core cp
        .macro copy to:req, from:req
        mv \to, \from
        .endm
        copy a0                           #! error 9-16: macro 'copy' needs the parameter 'from' | it is written copy to:req, from:req
        copy from=a0                      #! error 9-21: macro 'copy' needs the parameter 'to' | it is written copy to:req, from:req
        copy                              #! error 9-13: macro 'copy' needs the parameter 'to' | it is written copy to:req, from:req
        copy a0, ""                       #! error 9-20: macro 'copy' needs the parameter 'from' | it is written copy to:req, from:req
