# The escapes of GNU as.
        .ascii  "\b\f\n\r\t\\\""
        .ascii  "\101\60\0"
        .ascii  "\x41\x7a"
#! bytes .data 080c0a0d 095c2241 3000417a
