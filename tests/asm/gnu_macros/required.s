        .data
        .macro need a:req, b
        .ascii "[\a|\b]"
        .endm
        need 1
        need b=2 a=1
        need 1, 2
        .macro blanks a : req , b : req
        .ascii "[\a|\b]"
        .endm
        blanks 1 2
