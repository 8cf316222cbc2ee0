        .data
        .macro some a=1, b = x y=3
        .ascii "[\a|\b|\y]"
        .endm
        some
        some 5
        some ,6
        some y=7
        some "" "" ""
        .macro texts a="x y", b=(1 + 2)
        .ascii "[\a|\b]"
        .endm
        texts
        texts q
