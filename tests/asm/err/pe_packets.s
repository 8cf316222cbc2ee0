# Packets.
        .device tiny
        .input  x, int8, 64
        .input  f, float32, 64
        .input  b8, int32, 8
        .output y, int32, 8
        .output z, uint8, 8
        .data
outside: .byte  1
        .core   pe
w:      .sparse "weights.npy"[0:8]
v:      .sparse "weights.npy", clusters=1
s:      .npy    "weights.npy"[0, 0:6]
        .seq    layer
          ld activations
          ld weights
          mac
          spu nonsf
          st
        .endseq
        config  ib=32, layer              #! error 20-22: ib: 32 is out of range, 0 to 31
        config  layer                     #! error 9-22: config needs the name of a sequence | write config ib=0, NAME
        config  ib=0                      #! error 9-21: config needs the name of a sequence | write config ib=0, NAME
        config  ib=0, lyer                #! error 23-27: undefined symbol 'lyer' | did you mean 'layer'?
        config  ib=0, w                   #! error 23-24: 'w' is no sequence
        config  ib=0, layer, to=2         #! error 33-34: to: cluster 2 is out of range, 0 to 1
        config  ib=0, layer, to=(0, 0)    #! error 37-38: to: cluster 0 is given twice
        config  ib=0, layer, to=()        #! error 33-35: to: a cluster is needed
        config  ib=0, 5                   #! error 9-24: config does not take 2 operands | write config ib=, sequence=, data=, to=
        exe     ib=0, lst                 #! error 23-26: exe has no flag 'lst' | did you mean 'last'?
        exe     ib=32                     #! error 20-22: ib: 32 is out of range, 0 to 31
        exe     ib=1                      #! warning 20-21: instruction buffer 1 is executed before a config fills it
        exe     ib=0, data=5              #! error 28-29: a segment is a symbol, a part of one, or unit[from:to] | as in data=(x, weights w[0] sliced)
        exe     ib=0, data=(x, 5)         #! error 32-33: a segment is a symbol, a part of one, or unit[from:to] | as in data=(x, weights w[0] sliced)
        exe     ib=0, data=(wieghts w sliced)  #! error 29-36: a segment has no word 'wieghts' | did you mean 'weights'?
        exe     ib=0, data=(weights w x)  #! error 39-40: a segment names one symbol | its other words are weights, activations, psums, broadcast, sliced, by_cluster, by_pe, records, compress, dense, int8, int16, int32, int64, fp16, fp32
        exe     ib=0, data=(weights sliced)  #! error 29-43: the segment names no symbol
        exe     ib=0, data=(weights w weights)  #! error 39-46: the segment says its type twice
        exe     ib=0, data=(nothing)      #! error 29-36: undefined symbol 'nothing'
        exe     ib=0, data=(outside)      #! error 29-36: 'outside' does not lie in row 0 | put it after '.core pe, row=0'
        exe     ib=0, data=(activations outside)  #! error 41-48: 'outside' does not lie in row 0 | put it after '.core pe, row=0'
        exe     ib=0, data=(layer)        #! error 29-34: 'layer' is a sequence, no data
        exe     ib=0, data=(x, v)         #! error 32-33: 'v' has 4 rounds | name one, v[0] to v[3]
        exe     ib=0, data=(x, v[2])
        exe     ib=0, data=(x, v[4])      #! error 34-35: rounds of 'v': 4 is out of range, 0 to 3
        exe     ib=0, data=(x[64])        #! error 31-33: 'x' in dimension 0: 64 is out of range, 0 to 63
        exe     ib=0, data=(x[3:2])       #! error 31-34: the range 3:2 is empty
        exe     ib=0, data=(x[0:65])      #! error 33-35: 'x' in dimension 0: 65 is out of range, 0 to 64
        exe     ib=0, data=(x[0, 0])      #! error 29-36: 'x' has 1 dimension, of 64 elements
        exe     ib=0, data=(f)            #! error 29-30: 'f' holds float32; activations are int8 where pe.element is int8
        exe     ib=0, data=(activations w)  #! error 29-42: 'w' holds index and value, which only weights are
        exe     ib=0, data=(s sliced)     #! error 29-37: 's' has 6 elements here, which 8 cannot share | sliced gives each the same number
        exe     ib=0, data=(psums x)      #! error 29-36: 'x' holds int8; psums are int32 where pe.element is int8
        exe     ib=0, data=(x by_pe, w by_cluster)  #! error 38-50: 'w' has 8 rows here, by_cluster gives 2 PEs or clusters one
        exe     ib=0, data=(x, w), out=(y, z)  #! error 40-46: out= takes a symbol, a part of one, or unit[offset] | as in out=y or out=(y[0], stride=4, step=4, count=1, pes=8)
        exe     ib=0, data=(x, w), out=5  #! error 40-41: out= takes a symbol, a part of one, or unit[offset] | as in out=y or out=(y[0], stride=4, step=4, count=1, pes=8)
        exe     ib=0, data=(x, w), out=z  #! error 40-41: results are not written as uint8 | there are int8, int16, float16, float32, int32, int64
        exe     ib=0, data=(x, w), out=(s, count=1)  #! error 41-42: results of 8 PEs reach 2 bytes past 's' | pes=, stride=, step= and count= say what is written
        exe     ib=0, data=(x, w), out=(layer)  #! error 41-46: the element type of the results is not known | say type=
        exe     ib=0, data=(x, w), out=(y, strid=4)  #! error 44-49: out has no operand 'strid' | did you mean 'stride'?
        exe     ib=0, data=(x, w), out=(y, stride=-1)  #! error 51-53: stride: -1 is out of range, 0 to 4294967295
        exe     ib=0, data=(x, w), out=(y, count=65536)  #! error 50-55: count: 65536 is out of range, 0 to 65535
        exe     ib=0, data=(x, w), out=(y, type=int9)  #! error 49-53: type takes an element type of the array | did you mean 'int8'?
        exe     ib=0, last, data=(x, w), out=y[1]  #! error 46-50: results of 8 PEs reach 4 bytes past 'y' | pes=, stride=, step= and count= say what is written
        exe     ib=0, last, data=(x, w), out=(y, stride=5)  #! error 47-48: results of 8 PEs reach 7 bytes past 'y' | pes=, stride=, step= and count= say what is written
        exe     ib=0, last, data=(x), out=(y, pes=9)  #! error 51-52: pes: 9 is out of range, 0 to 8
        exe     ib=0, data=(x, w), out=b8  #! warning 40-42: 'b8' is an input; results in it are not copied back
        exe     ib=0, data=(x, w), out=y, out=y  #! error 43-48: the operand out is given twice
        exe     ib=0, data=(x, w), out=y, from=y  #! error 43-47: exe has no operand 'from' | write exe ib=, [shift], [last], data=, out=, to=
        exe     ib=0, data=(weights unit[0:0x80001])  #! error 44-51: unit: offset 524289 is out of range, 0 to 524288
        exe     ib=0, data=(weights unit[4])  #! error 37-44: a segment has a start and an end | write unit[from:to]
        exe     ib=0, data=(weights unit[4:2])  #! error 42-45: the range 4:2 ends before it begins
        exe     ib=0, data=(weights unit)  #! error 37-41: unit is written unit[offset] or unit[from:to]
        exe     ib=0, data=(unit[0:4])    #! error 29-38: what 'unit' holds is not known | say weights, activations or psums before it
        trace_begin 32                    #! error 21-23: g: 32 is out of range, 0 to 31
        trace_begin 1
        trace_begin 1                     #! warning 21-22: register group 1 is used twice in this part
