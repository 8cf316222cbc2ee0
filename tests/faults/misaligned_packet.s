# cp dispatches a list, but from the middle of its first packet on.
#! fault misaligned access: a packet at offset 0x2, which is no multiple of 4
#! core pe\[0\]
        .device tiny
        .core   cp
        la      a0, image
        dma.copy zero, a0
        dma.wait zero
        li      a0, 1
        mem.swap a0
        la      a1, list + 2
        dispatch a0, a1
        lui     a0, 0x10                # core 16 is row 0
        core.wait a0
        .section .data.cp
        .align  2
image:  .word   list, load_address(list), sizeof(list), 1, 0, 0
        .core   pe
        .list   list
        trace_begin 0                   #! here
        .endlist
