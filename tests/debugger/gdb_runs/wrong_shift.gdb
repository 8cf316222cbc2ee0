monitor why hidden[1, 0] depth 1
continue
monitor diff y golden.npy
monitor why y[1, 0] depth 2
monitor diff hidden golden_hidden.npy
monitor watch hidden[1, 0]
reverse-continue
monitor why hidden[1, 0] depth 1
monitor delete
source macaw-gdb.py
macaw goto 0
print $pc
macaw set mem[0x80000159].u8 = 8
continue
macaw diff y golden.npy
macaw goto 100
macaw nothing
stepi
info registers pc
