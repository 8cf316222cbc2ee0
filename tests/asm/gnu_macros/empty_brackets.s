        .data
        .macro m a
x\a\()y: .byte 1
        .ascii "\a\()\a\()s \(plain \text) end"
        .endm
        m 5
        .byte . - x5y
