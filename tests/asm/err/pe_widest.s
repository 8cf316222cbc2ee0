# An array multiplies integers or floating numbers.
        .device tiny
        .setting pe.widest, fp32          #! error 18-27: pe.widest is fp32 and pe.element int8: an array multiplies integers or floating numbers
        .core   pe
        .seq    s
          st
        .endseq
