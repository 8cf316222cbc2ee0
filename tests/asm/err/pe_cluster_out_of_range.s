# The device has two clusters.
        .device tiny
        .core   pe
        trace_begin 0, to=2               #! error 27-28: to: cluster 2 is out of range, 0 to 1
        trace_begin 1, to=(0, 2)          #! error 31-32: to: cluster 2 is out of range, 0 to 1
        trace_begin 2, to=-1              #! error 27-29: to: cluster -1 is out of range, 0 to 1
