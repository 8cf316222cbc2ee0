# A shift to the right is of 64 unsigned bits.
        .dword  -1 >> 60, -1 >> 1
#! bytes .data 0f000000 00000000 ffffffff ffffff7f
