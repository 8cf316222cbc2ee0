# Row R's part has the addresses of half 0 of unit R.
        .core   pe, row=3
        .byte   1
here:   .byte   2
#! section .pe.3 0x10300000 2
#! symbol here 0x10300001 1 object .pe.3
