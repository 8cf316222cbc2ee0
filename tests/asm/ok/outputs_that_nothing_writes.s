# With the default cp program only an exe writes: with last or shift, and out=.
        .device tiny
        .input  x, int8, 8
        .output named, int32, 8
        .output shifted, int32, 8
        .output early, int32, 8
        .output round, int32, 16
        .output forgotten, int32, 8       #! warning 17-26: nothing in the program writes to the output 'forgotten' | an exe with last or shift, and out=forgotten, does
        .output held, int32, 8            #! warning 17-21: nothing in the program writes to the output 'held' | an exe with last or shift, and out=held, does
        .core   pe, row=0
w:      .array  int8, 8, 8
        .seq    layer
          ld    activations, base=0
          ld    weights
          mac   base=0, acc=0
          spu   nonsf
          st
        .endseq
        .seq    before
          st
          mac   base=0, acc=0
        .endseq
        .seq    again
          .loop inner=2
          mac   base=0, acc=0
          st
        .endseq
        config  ib=0, layer
        config  ib=1, before
        config  ib=2, again
        exe     ib=0, last, data=(x, w), out=named
        exe     ib=0, shift, data=(x, w), out=shifted
        exe     ib=0, data=(x, w), out=held
        exe     ib=1, out=early
        exe     ib=2, out=(round, stride=8)
