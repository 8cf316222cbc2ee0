# Each cluster once, one at least.
        .device tiny
        .core   pe
        trace_begin 0, to=(1, 1)          #! error 31-32: to: cluster 1 is given twice
        trace_begin 1, to=()              #! error 27-29: to: a cluster is needed
