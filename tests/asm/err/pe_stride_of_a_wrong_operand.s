# Strides of instructions whose own operands are wrong or missing.
        .device tiny
        .core   pe, row=0
        .seq    s
          .stride ld.base, pe=1
          .stride spu.src, pe=1
          ld    psumss                  #! error 17-23: destination: 'psumss' is not one of weights, activations, psums, both | did you mean 'psums'?
          spu   reduc, src=0            #! error 17-22: function: 'reduc' is not one of nonsf, activation, reduce, requantise | did you mean 'reduce'?
          st    base=0
        .endseq
        config  ib=0, s
