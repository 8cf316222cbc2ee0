# Signs and complements.
        .word   -5, +5, ~5, !5, !0, - - 5, -~5
#! bytes .data fbffffff 05000000 faffffff 00000000
#! bytes .data 01000000 05000000 06000000
