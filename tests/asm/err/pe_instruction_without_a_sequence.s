# Instructions of the array stand between .seq and .endseq.
        .core   pe
        mac                               #! error 9-12: mac stands outside of a sequence | it stands between .seq and .endseq
        st      base=0                    #! error 9-11: st stands outside of a sequence | it stands between .seq and .endseq
