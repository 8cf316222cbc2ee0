# Too large for the type, or too small.
        .float  1e39                      #! error 17-21: 1e39 is out of range, float holds up to 3.4028235e+38
        .float16 65536                    #! error 18-23: 65536 is out of range, float16 holds up to 65504
        .double 1e309                     #! error 17-22: 1e309 is out of range, double holds up to 1.7976931e+308
        .float  1e-60                     #! error 17-22: 1e-60 is out of range, the smallest float above 0 is 1.4012985e-45
