# Files that hold no array.
        .npy    "missing.npy"             #! error 17-30: there is no file 'missing.npy' below the source's folder or a -I folder
        .npy    "/etc/passwd"             #! error 17-30: '/etc/passwd' is absolute; files are named from the source's folder on
        .npy    "../expectations.py"      #! error 17-37: '../expectations.py' leads out of the source's folder and the -I folders
        .npy    "npy_files.s"             #! error 17-30: 'npy_files.s' is no .npy file; numpy.save writes one
        .npy    ""                        #! error 17-19: the name of a file is empty or holds a zero byte
        .npy    "bad/big_endian.npy"      #! error 17-37: 'bad/big_endian.npy' is big-endian; save it little-endian, array.astype('<i4')
        .npy    "bad/fortran.npy"         #! error 17-34: 'bad/fortran.npy' is in Fortran order; save numpy.ascontiguousarray(array)
        .npy    "bad/objects.npy"         #! error 17-34: 'bad/objects.npy' holds Python objects, which are never read
        .npy    "bad/complex.npy"         #! error 17-34: 'bad/complex.npy' holds the element type '<c8'; there are int8, uint8, int16, uint16, int32, uint32, int64, float16, float32, float64, bfloat16
        .npy    "bad/cut.npy"             #! error 17-30: 'bad/cut.npy' should hold 1024 bytes of data by its header and holds 1021
        .npy    "bad/header.npy"          #! error 17-33: 'bad/header.npy' has a header that cannot be read
        .npy    "bad/long.npy"            #! error 17-31: 'bad/long.npy' should hold 1024 bytes of data by its header and holds 1026
        .npy    "bad/empty.npy"           #! error 17-32: the array is empty
        .npy    "bad/structured.npy"      #! error 17-37: 'bad/structured.npy' is a structured array; save plain numbers
        .npy    "bad/version.npy"         #! error 17-34: 'bad/version.npy' has version 9 of the .npy format, 1 to 3 can be read
        .npy    "weights.npy"[0:17]       #! error 33-35: dimension 0 of the array: 17 is out of range, 0 to 16
        .npy    "weights.npy"[16]         #! error 31-33: dimension 0 of the array: 16 is out of range, 0 to 15
        .npy    "weights.npy"[2:2]        #! error 31-34: the range 2:2 of dimension 0 of the array is empty
        .npy    "weights.npy"[0, 0, 0]    #! error 17-39: 'weights.npy' has 2 dimensions, 16 x 64
        .npy    "weights.npy"[-1]         #! error 31-33: dimension 0 of the array: -1 is out of range, 0 to 15
        .npy    "weights.npy", rows=3     #! error 32-36: .npy has no operand 'rows' | it takes none by name
        .sparse "bad/cube.npy"            #! error 17-31: the array has 3 dimensions, a sparse matrix has 2
        .sparse "bad/floats.npy"          #! error 17-33: the array holds float32; the device's weights are int8 (pe.element)
        .sparse "weights.npy", pes=17     #! error 36-38: pes: 17 is out of range, 1 to 16
        .sparse "weights.npy", pe=1       #! error 32-34: .sparse has no operand 'pe' | did you mean 'pes'?
        .sparse "bad/wide.npy"            #! error 17-31: the array has a weight at index 65599 of row 0, at most 65535
