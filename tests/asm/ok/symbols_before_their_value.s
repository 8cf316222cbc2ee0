# A symbol that is set later may be used now.
        .word   later, later + 1
        .set    later, 0x55
#! bytes .data 55000000 56000000
