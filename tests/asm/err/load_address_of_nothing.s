# An address that no section holds.
        .word   load_address(0x1234)      #! error 30-36: no section holds the address 0x1234
