# la of what comes before, behind, and lies elsewhere.
        .core   cp
begin:  la      a0, begin
        la      a1, end
        la      a2, value
end:    nop
        .data
value:  .word   5
#! bytes .text.cp 17050000 13050500 97050000 93850501
#! bytes .text.cp 1706ff7f 130606ff 13000000
#! bytes .data 05000000
