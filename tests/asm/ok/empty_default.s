# Nothing to run: the default program ends at once.
        .word   1
#! bytes .data.cp 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
#! symbol default.commands 0x10090 32 object .data.cp
