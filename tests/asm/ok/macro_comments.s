# Comments in bodies and calls are nothing.
        .macro two a, b                 # two bytes
        .byte \a, /* and */ \b          # \a is not looked for here: "
        .endm                           # that was it
        two 1, 2                        # 1, 2
        two 3 /* three */ 4
#! bytes .data 01020304
