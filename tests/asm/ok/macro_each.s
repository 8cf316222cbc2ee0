# A macro takes its arguments one after the other.
        .macro each what, first, more:vararg
        \what \first
        .ifnb \more
        each \what, \more
        .endif
        .endm
        each .byte, 1, 2, 3
        each .half, 4, 5
#! bytes .data 010203 04000500
