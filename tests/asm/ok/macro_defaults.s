# A parameter without a value has its default.
        .macro pair a=1, b="x y"
        .ascii "\a-\b;"
        .endm
        pair
        pair 2
        pair b=3
        pair "", ""                     # nothing is given: the defaults
#! bytes .data 312d7820 793b322d 7820793b 312d333b
#! bytes .data 312d 7820793b
