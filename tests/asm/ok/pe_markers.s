# Markers are commands: 96 begins, 64 ends, and the group.
        .core   pe
        .list   l
        trace_begin 0
        trace_begin g=31
        trace_end 31
        .endlist
#! at .pe.0+0x00 60
#! at .pe.0+0x08 7f
#! at .pe.0+0x10 5f
