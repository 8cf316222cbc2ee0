# Headers of .npy files that are cut off, or say what cannot be.
        .npy    "bad/only_magic.npy"      #! error 17-37: 'bad/only_magic.npy' is cut off in its header
        .npy    "bad/cut_length.npy"      #! error 17-37: 'bad/cut_length.npy' is cut off in its header
        .npy    "bad/cut_header.npy"      #! error 17-37: 'bad/cut_header.npy' is cut off in its header
        .npy    "bad/long_header.npy"     #! error 17-38: 'bad/long_header.npy' has a header of 10166 bytes, at most 10000 are read
        .npy    "bad/no_shape.npy"        #! error 17-35: 'bad/no_shape.npy' has a header without descr, fortran_order and shape
        .npy    "bad/negative_shape.npy"  #! error 17-41: 'bad/negative_shape.npy' has a header whose shape is none
        .npy    "bad/order.npy"           #! error 17-32: 'bad/order.npy' has a header whose fortran_order is neither True nor False
        .npy    "bad/huge.npy"            #! error 17-31: 'bad/huge.npy' is larger than 1073741824 bytes
