# A label that a call makes and nobody uses is warned of there.
        .macro skip
.Lend\@:                                  #! warning 1-8: label '.Lend1' is not used
        .endm
        skip
        .word .Lend0
        skip
#! bytes .data 00000080
