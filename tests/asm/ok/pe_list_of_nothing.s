# An empty list is its end mark.
        .core   pe
        .list   nothing
        .endlist
#! bytes .pe.0 20
