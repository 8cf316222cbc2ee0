# A folder is no file.
        .npy    "bad"                     #! error 17-22: 'bad' is a folder
