# Buffers that trigger each other without end: the array refuses the exe that begins with one.
        .device tiny
        .core   pe, row=0
        .seq    one
        .then   ib=2
          st
        .endseq
        .seq    two
        .then   ib=NEXT
          st
        .endseq
        .seq    self
        .then   ib=5
          st
        .endseq
        .seq    end
          st
        .endseq
        .set    NEXT, 3
        config  ib=1, one
        config  ib=2, end
        exe     ib=1
        config  ib=2, two
        exe     ib=1                      # 3 has nothing: said when it runs
        config  ib=3, one
        exe     ib=1                      #! warning 20-21: the buffers 1 ('one'), 2 ('two'), 3 ('one') trigger each other without end; the array refuses that
        exe     ib=3                      #! warning 20-21: the buffers 3 ('one'), 2 ('two') trigger each other without end; the array refuses that
        config  ib=5, self
        exe     ib=5                      #! warning 20-21: the buffer 5 ('self') triggers itself without end; the array refuses that
        config  ib=3, end, to=1           # other clusters still have what is without end, or may not
        exe     ib=1
        config  ib=3, end
        exe     ib=1
        .core   pe, row=1                 # by lists, in the order in which they stand
        .seq    again
        .then   ib=7
          st
        .endseq
        .list   first
        config  ib=7, again
        .endlist
        .list   second
        exe     ib=7                      #! warning 20-21: the buffer 7 ('again') triggers itself without end; the array refuses that
        .endlist
