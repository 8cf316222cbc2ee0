# Each use sees the value of its time.
        .set    n, 1
        .byte   n
        .set    n, n + 1
        .byte   n
        .equ    n, n * 10
        .byte   n
        n = 5
        .byte   n
#! bytes .data 01021405
