# The program runs on behind its last instruction, to the end of the local memory.
#! fault out-of-range access: fetch of 4 bytes at 0x60000000: the device has no memory there
#! core cp
        .core   cp
        lui     a0, 0x60000
        jr      a0                      # there is no source line where it leads
