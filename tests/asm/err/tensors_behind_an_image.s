# Image and tensors share half of a unit: together they are too large, and the last tensor is to blame.
        .device tiny
        .input  a, int8, 500000, at=unit0
        .input  b, int8, 20000, at=unit0  #! error 36-41: the image and the tensors after it take 528000 bytes, half of a unit has 524288 (mem.unit_half_bytes)
        .input  c, int8, 524288, at=unit1   # just fits: its row is empty
        .core   pe, row=0
        .space  8000
        .core   pe, row=1
