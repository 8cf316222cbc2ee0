# The rest of the file is a comment.
#! error 4:9-11: a comment without an end | it ends with '*/'
        .byte   1
        /* from here on
        .byte   2
