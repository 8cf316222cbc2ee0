# config names a sequence.
        .core   pe
        config  ib=0                      #! error 9-21: config needs the name of a sequence | write config ib=0, NAME
