# Strings of one directive follow one another.
        .ascii  "ab", "c", ""
        .ascii  "d"
#! bytes .data 61626364
