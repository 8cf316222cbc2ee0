# A string is wanted.
        .npy                              #! error 9-13: .npy takes other operands | write .npy "file.npy" [[rows, ...]]
        .npy    5                         #! error 17-18: the name of a .npy file is needed here, in quotes
        .sparse weights                   #! error 17-24: the name of a .npy file is needed here, in quotes
