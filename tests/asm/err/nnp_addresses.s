# vec and tile take addresses of external memory where a vector or a tile of the device begins.
        .device tiny
        .core   cp
here:   ret
        .core   nnp
        v_rd    Dram, vec(b); v_wr MulVrf, 0
        v_rd    Dram, vec(c); v_wr MulVrf, 0   #! error 27-28: the address is 2 bytes after the start of a native vector, which has 8 bytes | native vectors begin at multiples of 8 bytes of external memory: put data of this size first, or fill up with .zero
        m_rd    Dram, tile(b); m_wr MatrixRf, 0  #! error 28-29: the address is 8 bytes after the start of a native tile, which has 32 bytes | native tiles begin at multiples of 32 bytes of external memory: put data of this size first, or fill up with .zero
        v_rd    Dram, vec(here); v_wr MulVrf, 0  #! error 27-31: the address 0x10000 is not in external memory, which begins at 0x80000000
        v_rd    Dram, vec(none); v_wr MulVrf, 0  #! error 27-31: undefined symbol 'none'
        v_rd    Dram, vec(b, 1); v_wr MulVrf, 0  #! error 23-32: vec is written vec(address)
        .if     vec(b) > 1                #! error 17-23: the value must be known here: it depends on where everything lies
        .endif
        end_chain
        .data
a:      .zero   8
b:      .zero   2
c:      .zero   6
