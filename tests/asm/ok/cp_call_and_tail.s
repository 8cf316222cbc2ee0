# call and tail are auipc and jalr.
        .core   cp
        call    away
        tail    away
        nop
away:   ret
#! bytes .text.cp 97000000 e7804001 17030000 6700c300
#! bytes .text.cp 13000000 67800000
