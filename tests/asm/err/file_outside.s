# Not above it, and not anywhere else.
        .npy    "../err/../sources.py"    #! error 17-39: '../err/../sources.py' leads out of the source's folder and the -I folders
        .npy    "/etc/hostname"           #! error 17-32: '/etc/hostname' is absolute; files are named from the source's folder on
