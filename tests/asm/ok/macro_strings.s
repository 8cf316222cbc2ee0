# A string is one argument without its quotes.
        .macro two a, b
        .ascii "\a|\b;"
        .endm
        two "x, y", "z"
        two "x\"y" "a\tb"
        two "# none", "; no end"
#! bytes .data 782c2079 7c7a3b78 22797c61 09623b23
#! bytes .data 206e6f 6e657c3b 206e6f20 656e643b
