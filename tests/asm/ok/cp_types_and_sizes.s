# What .type and .size say is in the symbol table.
        .core   cp
        .type   f, function
        .size   f, 100
f:      nop
        .type   table, object
table:  .word   1
        .type   plain, notype
plain:  nop
        .size   plain, . - plain
#! symbol f 0x10000 100 func .text.cp
#! symbol table 0x10004 4 object .text.cp
#! symbol plain 0x10008 4 notype .text.cp
