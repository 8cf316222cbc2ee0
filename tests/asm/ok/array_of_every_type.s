# .array is room for elements of a type.
a:      .array  int8, 3
b:      .array  int16, 2
c:      .array  int32, 2, 2
d:      .array  int64, 1
e:      .array  float16, 2
f:      .array  bfloat16, 3
        .half   sizeof(a), sizeof(b), sizeof(c), sizeof(d), sizeof(e), sizeof(f)
#! symbol a 0x80000000 3 object .data
#! symbol c 0x80000007 16 object .data
#! at .data+0x29 0300 0400 1000 0800 0400 0600
