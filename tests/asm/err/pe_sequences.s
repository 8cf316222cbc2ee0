# Sequences.
        .device tiny
        .core   pe
        mac     base=0                    #! error 9-12: mac is outside of a sequence | write it between .seq and .endseq
        .endseq                           #! error 9-16: .endseq is outside of a sequence
        .seq                              #! error 9-13: .seq takes other operands | write .seq NAME, state=sq, pipeline=2, ...
        .endseq
        .seq    empty
        .endseq                           #! error 9-16: the sequence is empty
        .seq    words, state=sx, shfit=3  #! error 34-39: .seq has no operand 'shfit' | did you mean 'shift'?
          mac
        .endseq
        .seq    words2, state=sx          #! error 31-33: state: 'sx' is not one of sq, rq, sw
          mac
        .endseq
        .seq    ranges2, shift=64         #! error 32-34: shift: 64 is out of range, 0 to 63
          mac   base=16                   #! error 22-24: base: 16 is out of range, 0 to 15
          mac   acc=4                     #! error 21-22: acc: 4 is out of range, 0 to 3
          ld    weihgts                   #! error 17-24: destination: 'weihgts' is not one of weights, activations, psums, both | did you mean 'weights'?
          spu   nonsf, src=16             #! error 28-30: src: 16 is out of range, 0 to 15
          mac   balanced                  #! error 17-25: undefined symbol 'balanced' | did you mean 'balance'?
          st    base=-1                   #! error 22-24: base: -1 is out of range, 0 to 15
        .endseq
        .seq    ranges3, window=65536     #! error 33-38: window: 65536 is out of range, 0 to 65535
          mac
        .endseq
        .seq    ranges4, pipeline=3       #! error 35-36: pipeline: '3' is not one of 2, 4
          mac
        .endseq
        .seq    slides, state=sw          #! warning 31-33: state=sw without window=: the array refuses a window of no entries
          mac
        .endseq
        .seq    steps
        .step   mac.base, inner=1         #! error 9-14: .step needs the stages SU and WB | say pipeline=4 in the .seq line
          mac
        .endseq
        .seq    steps2, pipeline=4
        .loop   inner=0                   #! error 23-24: inner: 0 is out of range, 1 to 65535
        .loop   inner=1                   #! error 9-14: the sequence has two .loop
        .loop   outr=1                    #! error 17-21: .loop has no operand 'outr' | did you mean 'outer'?
        .loop                             #! error 9-14: .loop takes other operands | write .loop inner=1, outer=1
        .step   mac.base                  #! error 9-25: .step takes other operands | write .step MNEMONIC[N].OPERAND, inner=0, outer=0
        .step   mac, inner=1              #! error 17-20: an operand of an instruction is needed here | as in mac.base or mac[1].base
        .step   mac[0].base, inner=40000  #! error 36-41: inner: 40000 is out of range, -32768 to 32767
        .step   st.base, inner=1
        .step   5, inner=1                #! error 17-18: an operand of an instruction is needed here | as in mac.base or mac[1].base
        .then   ib=32                     #! error 20-22: ib: 32 is out of range, 0 to 31
        .then   ib=3                      #! error 9-14: the sequence has two .then
        .then                             #! error 9-14: .then takes other operands | write .then ib=N
          mac
          mac
          st
        .endseq
        .seq    step0, pipeline=4
        .step   spu.base, inner=1         #! error 17-25: the sequence has no instruction 'spu' | it has mac, st
          mac
          mac
          st
        .endseq
        .seq    step1, pipeline=4
        .step   mac.src, inner=1          #! error 17-24: the sequence has 2 of mac | write mac[0].src to mac[1].src
          mac
          mac
          st
        .endseq
        .seq    step2, pipeline=4
        .step   mac[2].base, inner=1      #! error 17-28: mac[2] is out of range, 0 to 1
          mac
          mac
          st
        .endseq
        .seq    twice
          mac
        .endseq
        .seq    twice                     #! error 17-22: 'twice' is defined twice | the first is at tests/asm/err/pe_sequences.s:72
          mac
        .endseq
        .seq    full
          mac; mac; mac; mac; mac; mac; mac; mac; mac; mac; mac; mac; mac; mac; mac; mac
          mac                             #! error 11-14: a sequence holds at most 16 instructions
          mac
        .endseq
        .seq    inside
          config ib=0, twice              #! error 11-17: config is inside of a sequence | end the sequence 'inside' with .endseq before it
          mac
        .endseq 3                         #! error 9-18: .endseq takes other operands | write .endseq
        .seq    open                      #! error 9-21: the sequence 'open' has no .endseq
          mac
        .seq    open2                     #! error 9-22: the sequence 'open2' has no .endseq
          mac
        .core   cp
