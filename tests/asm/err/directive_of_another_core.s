# Lists and sequences are a part of pe's.
        .core   cp
        .list   packets                   #! error 9-14: unknown directive '.list' | parts of pe have it
        .endlist                          #! error 9-17: unknown directive '.endlist' | parts of pe have it
        .then   ib=1                      #! error 9-14: unknown directive '.then' | parts of pe have it
