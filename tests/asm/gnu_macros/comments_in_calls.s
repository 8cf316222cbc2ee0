        .data
        .macro two a, b
        .ascii "[\a|\b]"
        .endm
        two 1 /* one */ 2       # two
        two a/* nothing */b
        two 1, /* no, not yet */ 2 # end
        two 1;two 2
