# Labels: before, alone, several of them, local ones, those that stay out of the object.
        .core   cp
a: b: c: nop
d:
        nop
.Lhidden: j     .Lhidden
1:      j       1b
        j       1f
1:      beqz    a0, 1b
        bnez    a0, 1f
1: 2:   j       2b
        j       1b
end:
#! bytes .text.cp 13000000 13000000 6f000000 6f000000 6f004000 63000500 63120500 6f000000 6ff0dfff
#! symbol a 0x10000 4 func .text.cp
#! symbol b 0x10000 4 func .text.cp
#! symbol c 0x10000 4 func .text.cp
#! symbol d 0x10004 32 func .text.cp
#! symbol end 0x10024 0 func .text.cp
#! absent .Lhidden 1 2
