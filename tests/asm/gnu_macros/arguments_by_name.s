        .data
        .macro three a, b, c
        .ascii "[\a|\b|\c]"
        .endm
        three c=1, b=2, a=3
        three c=1 b=2 a=3
        three 1, c=3
        three c = 1 , a =2
        three a="x y", b=(1 + 2)
