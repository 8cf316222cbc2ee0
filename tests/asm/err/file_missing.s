# Files are looked for below the source's folder.
        .npy    "nowhere.npy"             #! error 17-30: there is no file 'nowhere.npy' below the source's folder or a -I folder
        .sparse "nowhere.npy"             #! error 17-30: there is no file 'nowhere.npy' below the source's folder or a -I folder
