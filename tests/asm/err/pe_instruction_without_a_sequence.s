# Instructions of the array stand between .seq and .endseq.
        .core   pe
        mac                               #! error 9-12: mac is outside of a sequence | write it between .seq and .endseq
        st      base=0                    #! error 9-11: st is outside of a sequence | write it between .seq and .endseq
