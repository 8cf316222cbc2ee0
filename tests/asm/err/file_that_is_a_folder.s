# A folder is no file.
        .npy    "bad"                     #! error 17-22: there is no file 'bad' below the source's folder or a -I folder
