# A word of a setting that begins with a digit stands in quotes.
        .device tiny
        .setting pe.design, "5a"
        .setting pe.design, 5b            #! error 29-31: '5b' is no number | a word that begins with a digit needs quotes
        .setting pe.design, 5a            #! error 29-31: '5a' is no number | a word that begins with a digit needs quotes
