# Branches whose registers change places.
        .core   cp
loop:   bgt     a0, a1, loop
        ble     a0, a1, loop
        bgtu    a0, a1, loop
        bleu    a0, a1, loop
#! bytes .text.cp 63c0a500 e3dea5fe e3eca5fe e3faa5fe
