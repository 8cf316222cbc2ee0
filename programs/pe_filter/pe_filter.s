# pe_filter.s - a sparse filter slides over a signal, every PE at a place of its own:
# y[n] = sum of x[n + k] * w[k], 56 results of 8 taps, two of them not zero.
#
# All PEs get the same signal and the same taps, each over the bus once. What differs is the operand of
# mac: PE p of cluster c begins at element p + 4c (.stride), and eight further on in each iteration (.step).
# Without .stride each PE would need a window of its own: the signal eight times over the bus.

        .device tiny                    # row 0: 2 clusters of 4 PEs
        .input  x, int8, 64             # 63 are used
        .output y, int32, 56

        .core   pe, row=0
w:      .sparse "taps.npy", clusters=1, pes=1

        .seq    filter, state=rq, pipeline=4
        .loop   inner=7
        .step   mac.base, inner=8
        .stride mac.base, pe=1, cluster=4
          ld    weights
          ld    activations
          mac
          spu   nonsf
          st
        .endseq

        config  ib=0, filter
        exe     ib=0, last, data=(w broadcast, x), out=(y, stride=4, step=32)
