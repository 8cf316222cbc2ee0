# A load with a symbol makes its address in the destination.
        .core   cp
        lw      a0, value
        lb      a1, value + 1
        lhu     a2, value
        .data
value:  .word   0x11223344
#! bytes .text.cp 1705ff7f 03250500 9705ff7f 838595ff
#! bytes .text.cp 1706ff7f 035606ff
#! bytes .data 44332211
