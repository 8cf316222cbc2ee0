# How much room must be known at once.
        .space  LATER                     #! error 17-22: the value must be known here: 'LATER' is not defined before
        .equ    LATER, 4
