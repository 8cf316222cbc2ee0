# A processor works on tensors of any unit: no warning where a part of its own is there.
        .device tiny
        .input  x, int8, 16, at=unit1
        .output y, int32, 4, at=unit0
        .core   vc
        la      a0, x
        vld     vr0, 0(a0)
