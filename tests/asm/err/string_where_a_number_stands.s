# A string is no number.
        .word   "abc"                     #! error 17-22: a number is needed here, not a string
        .space  "3"                       #! error 17-20: a number is needed here, not a string
