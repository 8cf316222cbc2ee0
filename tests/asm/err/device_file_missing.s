# A device file that is not there.
        .device "nowhere.toml"            #! error 17-31: there is no file 'nowhere.toml' below the source's folder or a -I folder
