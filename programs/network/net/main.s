# main.s - the network digits. Written by macaw compile.

        .device base
        .input  image_quantized, int8, 8, 8, 1  # image_quantized
        .output digit_real, int8, 10            # digit_real
        .bss
        .balign 64
arena:  .space  640                             # tensors between layers, by their lifetimes
        .view   conv_out, int8, 8, 8, 8, at=arena + 0x0  # conv_out
        .view   pointwise_out, int8, 4, 4, 16, at=arena + 0x0  # pointwise_out
        .view   depthwise_out, int8, 4, 4, 8, at=arena + 0x200  # depthwise_out
        .global conv_out, pointwise_out, depthwise_out

# ---------------- the memory of each unit
        .core   pe, row=0
        .list   first                   # packets of all layers follow
        .endlist
        .global unit_memory
unit_memory:
        .space  4176                    # tiles of the layer that runs

# ---------------- the layers
        .core   cp
_start: la      a0, fill_ping           # packets and sequences to both halves of all units
        dma.copy s10, a0
        la      a0, fill_pong
        dma.copy s10, a0                # layers wait for this ticket
        dma.wait zero
        call    conv                    # conv: convolution 3 × 3, stride 1 × 1, padding 1 × 1, of 8 × 8 × 1 to 8 channels
        call    depthwise               # depthwise: depthwise convolution 3 × 3, stride 2 × 2, padding 1 × 1, of 8 × 8 × 8 to 8 channels
        call    pointwise               # pointwise: convolution 1 × 1, stride 1 × 1, padding 0 × 0, of 4 × 4 × 8 to 16 channels
        call    dense                   # dense: a vector of 256 inputs through 10 outputs
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
