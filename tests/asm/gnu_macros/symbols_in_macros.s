        .data
        .macro let name, value
        .set \name, \value
        .equ \name\()_twice, 2 * \value
        .endm
        let a, 5
        let b, a + 1
        .byte a, a_twice, b, b_twice
        let a, 7
        .byte a, a_twice
