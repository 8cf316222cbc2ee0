# layer.s - a sparse layer on the PE array: y = weights * x, eight outputs of 16 inputs
#
# The array does not multiply where a weight or an activation is zero. `.sparse` leaves zero
# weights out of the program, and each PE skips the weights that meet a zero of x.

        .device tiny                    # row 0 of the array: 2 clusters of 4 PEs

# You give x to a run and get y. A PE computes one output, so row 0 computes all eight at once.
        .input  x, int8, 16
        .output y, int32, 8

        .core   pe, row=0               # from here on: the program of row 0
w:      .sparse "weights.npy"           # int8 (8, 16); a row of the matrix for each PE

# What each PE does with its data: a sequence of at most 16 instructions.
        .seq    layer, state=sq         # sq: weights come once through the queue
          ld    activations, base=0     # x into the input buffer, the same for all PEs
          ld    weights                 # the PE's own row into its weight queue
          mac   base=0, acc=0           # accumulator 0 = sum of weight * x[index]
          spu   nonsf, src=0, dst=0     # no activation function: to the output queue as it is
          st    base=0                  # the output queue to memory
        .endseq

# What the row is told: keep the sequence in instruction buffer 0, then execute it with this data.
        config  ib=0, layer
        exe     ib=0, last, data=(x, w), out=y

# There is no part for cp, the command processor. So it gets the default program: copy the program
# of row 0 and x to its memory, start the row, wait, copy y back. `macaw dis` shows it.
