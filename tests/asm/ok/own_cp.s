# A cp part of one's own: places of tensors, load addresses, lists.
        .device tiny
        .input  x, int8, 64
        .output y, int32, 8
        .core   cp
_start: li      a0, slot(x, 0)
        li      a1, load_address(w[0])
        li      a2, _list.0
        li      a3, slot(y, 0) - w
        la      a4, x
        .word   load_address(w), load_address(w) + 1, load_address(_start), slot(y[1], 0)
        .core   pe
w:      .sparse "weights.npy"[0:8]
        exe     ib=0, data=(x, w), out=y        #! warning 20-21: instruction buffer 0 is executed before a config fills it
#! at .text.cp+0x00 37050010 13050522 b7050080 93858503
#! at .text.cp+0x10 37060010 13060600 b7060000 93868622
#! at .text.cp+0x28 38000080 39000080 00000100 64020010
