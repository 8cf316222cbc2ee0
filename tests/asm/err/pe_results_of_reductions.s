# Who writes decides how far results reach: PE 0 of each cluster, or all where a sum goes past the reduction.
        .device tiny
        .output y, int32, 16
        .output z, int32, 2
        .core   pe
        .seq    sums, reduction=add
          mac
          spu   nonsf, src=0, dst=0
          spu   reduce, src=0, dst=1
          st    base=1
        .endseq
        .seq    both, reduction=add
          mac
          spu   nonsf, src=0, dst=0
          spu   reduce, src=0, dst=1
          st    base=1
          st    base=0
        .endseq
        config  ib=0, sums
        config  ib=1, both
        exe     ib=0, last, out=(y, stride=16, step=4)  #! error 34-35: results of PE 0 of clusters 0 to 1 reach 4 bytes past 'y' | pes=, stride=, step= and count= say what is written
        exe     ib=0, last, out=(z, stride=16, pes=4), to=0
        exe     ib=0, last, out=(z[0:1], step=4, count=2), to=0  #! error 34-40: results of PE 0 of cluster 0 reach 4 bytes past 'z' | pes=, stride=, step= and count= say what is written
        exe     ib=0, shift, out=(y, stride=16)  #! error 35-36: results of 8 PEs reach 52 bytes past 'y' | pes=, stride=, step= and count= say what is written
        exe     ib=1, last, out=(y, stride=16)  #! error 34-35: results of 8 PEs reach 56 bytes past 'y' | pes=, stride=, step= and count= say what is written
