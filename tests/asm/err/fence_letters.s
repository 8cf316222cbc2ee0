# A fence names some of i, o, r and w.
        .core   cp
        fence   x, w                      #! error 17-18: pred: 'x' is not letters of iorw
        fence   rw, wx                    #! error 21-23: succ: 'wx' is not letters of iorw
