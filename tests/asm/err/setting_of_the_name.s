# The name of a device is a word.
        .device tiny
        .setting name, 5                  #! error 18-22: name: 5 is not a word
        .setting name, "a b"              #! error 18-22: name: 'a b' is not letters, digits and . _ + -, 64 at most
