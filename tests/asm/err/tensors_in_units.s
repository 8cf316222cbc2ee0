# Places that at= cannot name.
        .device tiny
        .input  a, int8, 4, at=unit2      #! error 32-37: the device has no memory 'unit2' for tensors | there are netin, message, netout, island0, island1, unit0, unit1
        .input  b, int8, 4, at=unti0      #! error 32-37: the device has no memory 'unti0' for tensors | there are netin, message, netout, island0, island1, unit0, unit1
        .input  c, int8, 4, at=unit       #! error 32-36: the device has no memory 'unit' for tensors | there are netin, message, netout, island0, island1, unit0, unit1
        .input  d, int8, 4, at=0          #! error 32-33: the name of a memory is needed here
        .input  e, int8, 4, at="unit0"    #! error 32-39: the name of a memory is needed here
        .input  f, int8, 524289, at=unit0  #! error 37-42: 'f' has 524289 bytes, unit0 has room for 524288
        .input  g, int8, 4, at=unit0, at=unit1  #! error 39-47: the operand at is given twice
        .output h, int8, at=unit0         #! error 9-34: .output takes other operands | write .output NAME, dtype, dimension, ... [, at=PLACE]
        .input  i, int8, 4, unit0         #! error 29-34: the value must be known here: 'unit0' is not defined before
        .word   a, b, c, d, e, f, g, h, i # spoiled: no errors of their own
