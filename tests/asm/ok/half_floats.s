# Half precision, rounded half to even.
        .float16 1.0, -2.0, 65504, 0.1, 6e-8
#! bytes .data 003c 00c0ff7b 662e0100
