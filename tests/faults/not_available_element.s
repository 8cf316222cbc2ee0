# Integer results go to integer elements; this will not change. The assembler does not see it, because
# only some clusters get the sequence of each config.
#! fault not available: cluster [01]: results of int8 cannot be stored as fp32
#! core pe\[0\]
        .device tiny
        .core   pe
        .seq    layer
          spu   nonsf
          st                            #! here
        .endseq
        config  ib=0, layer, to=0
        config  ib=0, layer, to=1
        exe     ib=0, last, out=(unit[0x1000], stride=4, step=4, count=1, pes=8, type=fp32)
