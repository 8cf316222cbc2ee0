# An image that half of a unit does not hold.
        .core   pe                        #! error 9-19: the image takes 524289 bytes, half of a unit has 524288 (mem.unit_half_bytes)
        .space  0x80001
