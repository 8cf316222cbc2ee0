# A character is its number before anybody sees it.
        .data
        .macro two a, b
        .ascii "[\a|\b]"
        .endm
        two 'a', 'b'
        two 'a 'b'
        two ' ' ','
        two '\n' '\\'
        two x'y' 2
        two '"' ';'
        two '#', '\''
