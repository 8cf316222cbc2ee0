# at=: behind the row's image and at the addresses of half 0; the default cp copies neither x nor y.
        .device tiny
        .input  x, int8, 3, at=unit1
        .output y, int32, 8, at=unit1
        .output z, int32, 8, at=unit1     #! warning 17-18: nothing in the program writes to the output 'z' | an exe with last or shift, and out=z, does
        .core   pe, row=1
        .seq    layer
          st
        .endseq
        config  ib=0, layer
        exe     ib=0, last, data=(x), out=y
        .data
        .word   x, y, slot(y, 1), load_address(y), sizeof(z)
#! section .pe.1 0x10100000 80 align 32
#! section .tensors.unit1 0x10100060 96 align 32
#! symbol x 0x10100060 3 object .tensors.unit1
#! symbol y 0x10100080 32 object .tensors.unit1
#! global x y z
#! bytes .data 60001010 80001010 80001010 80001010 20000000
# One copy, of the image up to x; wait, swap, dispatch, wait; no copy back.
#! at .data.cp+0x000 01000000 00001010 40000080 50000000 01000000 00000000 00000000 00000000
#! at .data.cp+0x020 02000000
#! at .data.cp+0x040 03000000 02000000
#! at .data.cp+0x060 04000000 02000000 00001010
#! at .data.cp+0x080 06000000 00000200
#! at .data.cp+0x0a0 00000000
#! section .data.cp 0x10090 192 align 16
