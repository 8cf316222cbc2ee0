# A hint shows a default with blanks in quotes, as the source has to write it.
        .macro  two a="x y", b=1
        .endm
        two     1, 2, 3                   #! error 23-24: macro 'two' takes at most 2 arguments | it is written two a="x y", b=1
        .macro  one a
        .endm
        one     1, 2                      #! error 20-21: macro 'one' takes at most 1 argument | it is written one a
