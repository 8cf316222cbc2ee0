# A table is addressed by the byte of an integer.
        .device tiny
        .setting pe.element, fp16
        .core   pe
        .seq    mapped, activation=table
          st
        .endseq
        config  ib=0, mapped, data=(table unit[0:512])  #! error 37-54: a table is for integers; pe.element is fp16
