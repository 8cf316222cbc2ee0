# What few programs write.
        .core   cp
        unimp
        fence.tso
        lla     a0, there
        jump    there, t0
there:  nop
#! bytes .text.cp 731000c0 0f003083 17050000 13050501
#! bytes .text.cp 97020000 67808200 13000000
