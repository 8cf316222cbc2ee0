# Nothing in a string is a comment or a separator.
        .ascii  "# no; // no; /* no */"
        .byte   '#', ';', '/'
#! bytes .data 23206e6f 3b202f2f 206e6f3b 202f2a20
#! bytes .data 6e6f202a 2f233b2f
