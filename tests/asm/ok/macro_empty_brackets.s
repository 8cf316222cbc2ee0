# A name ends where \() stands.
        .macro name a
\a\()_begin:
        .ascii "\a\()_\(plain)\a;"
\a\()_end:
        .endm
        name x
        name y
        .byte x_end - x_begin, y_end - x_end
#! bytes .data 785f706c 61696e78 3b795f70 6c61696e
#! bytes .data 793b0909
