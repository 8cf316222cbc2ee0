# %pcrel_lo takes the label of the auipc.
        .core   cp
1:      auipc   a0, %pcrel_hi(far)
        addi    a0, a0, %pcrel_lo(1b)
there:  auipc   a1, %pcrel_hi(far)
        lw      a1, %pcrel_lo(there)(a1)
        sw      a1, %pcrel_lo(there)(a0)
        .data
        .word   1
far:    .word   2
#! bytes .text.cp 1705ff7f 13054500 9705ff7f 83a5c5ff
#! bytes .text.cp 232eb5fe
#! bytes .data 01000000 02000000
