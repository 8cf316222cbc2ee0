# A view lies in the data of its section.
        .core   pe, row=0
a:      .space  8
        .view   v, int32, 2, at=a
        .view   w, int32, 2, at=a + 4     #! error 33-38: the view ends 4 bytes after the end of its section's data
        .view   x, int8, 2, at=a - 1      #! error 32-37: the view begins before its section's data
