# Eight bytes under three names.
        .dword  0x123456789abcdef0, -1
        .quad   1
        .8byte  0xffffffffffffffff
#! bytes .data f0debc9a 78563412 ffffffff ffffffff
#! bytes .data 01000000 00000000 ffffffff ffffffff
