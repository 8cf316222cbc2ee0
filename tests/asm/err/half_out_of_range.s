# One less and one more.
        .half   -32769                    #! error 17-23: -32769 is out of range, -32768 to 65535
        .half   65536                     #! error 17-22: 65536 is out of range, -32768 to 65535
        .short  70000                     #! error 17-22: 70000 is out of range, -32768 to 65535
        .2byte  -40000                    #! error 17-23: -40000 is out of range, -32768 to 65535
