# main.s - the network small. Written by macaw compile.

        .device base
        .input  in_q, int8, 4, 4, 2     # in_q
        .output y, int32, 4             # y

# ---------------- the memory of each unit
        .core   pe, row=0
        .list   first                   # packets of all layers follow
        .endlist
        .global unit_memory
unit_memory:
        .space  492                     # tiles of the layer that runs

# ---------------- the layers
        .core   cp
_start: la      a0, fill_ping           # packets and sequences to both halves of all units
        dma.copy s10, a0
        la      a0, fill_pong
        dma.copy s10, a0                # layers wait for this ticket
        dma.wait zero
        call    classes_Gemm            # /classes/Gemm: a vector of 32 inputs through 4 outputs
all_done: li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
# dst, src, row bytes, rows, dst stride, src stride
fill_ping:
        .word   first, load_address(first), unit_memory - first, 4, 0x100000, 0
fill_pong:
        .word   first + 0x80000, load_address(first), unit_memory - first, 4, 0x100000, 0
