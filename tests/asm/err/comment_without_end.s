#! error 3:9-11: a comment without an end | it ends with '*/'
        .word   1
        /* it goes on
        and on
