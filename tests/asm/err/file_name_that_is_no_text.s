# Names of files are UTF-8.
        .npy    "\377.npy"                #! error 17-27: the name of a file is UTF-8 text
        .npy    "a\0b.npy"                #! error 17-27: the name of a file is empty or holds a zero byte
