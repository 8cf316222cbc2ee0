# A store with a symbol needs a register for the address.
        .core   cp
        sw      a0, value, t0
        sb      a1, value + 3, t1
        .data
value:  .word   0
#! bytes .text.cp 9702ff7f 23a0a200 1703ff7f a30db3fe
#! bytes .data 00000000
