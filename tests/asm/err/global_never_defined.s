# It may be defined in another file, or not at all.
        .global nowhere
        .word   nowhere                   #! error 17-24: undefined symbol 'nowhere'
