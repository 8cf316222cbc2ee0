#--- vc/lanes_without_a_type
        .core   vc
        vadd    vr0, vr1, vr2
#--- vc/registers_of_the_scalar_base
        .core   vc
        vadd.b  a0, a1, a2
#--- vc/register_too_high
        .core   vc
        vadd.b  vr0, vr1, vr16
#--- vc/mnemonic_of_rvv
        .core   vc
        vsetvli t0, a0, e8
#--- vc/comma_missing
        .core   vc
        vadd.b  vr0 vr1, vr2
#--- pe/sequence_not_ended
        .core   pe, row=0
        .seq    s
        mac     base=0, acc=0
#--- pe/mac_outside_of_a_sequence
        .core   pe, row=0
        mac     base=0, acc=0
#--- pe/flag_misspelt
        .core   pe, row=0
        .seq    s
        mac     base=0, acc=0, balanced
        .endseq
        config  ib=0, s
#--- pe/option_misspelt
        .core   pe, row=0
        .seq    s, activaton=relu
        mac     base=0
        .endseq
#--- pe/word_for_activation
        .core   pe, row=0
        .seq    s, activation=softmax
        mac     base=0
        .endseq
#--- pe/row_too_high
        .device tiny
        .core   pe, row=9
#--- pe/cp_code_here
        .core   pe, row=0
        li      a0, 5
#--- pe/config_of_nothing
        .core   pe, row=0
        config  ib=0, layer
#--- pe/sequence_colon
        .core   pe, row=0
        .seq    s:
        mac     base=0
        .endseq
#--- nnp/comma_missing
        .core   nnp
        v_rd    InitialVrf 0
        v_wr    NetOutQ
        end_chain
#--- nnp/memory_misspelt
        .core   nnp
        v_rd    NetinQ
        v_wr    NetOutQ
        end_chain
#--- nnp/chain_without_an_end
        .core   nnp
        v_rd    NetInQ
        v_wr    NetOutQ
#--- nnp/chain_that_writes_nothing
        .core   nnp
        v_rd    NetInQ
        v_relu
        end_chain
#--- nnp/mnemonic_misspelt
        .core   nnp
        v_rd    NetInQ
        v_rleu
        v_wr    NetOutQ
        end_chain
#--- fim/word_outside_of_a_block
        .core   fim, island=0
        act     12
#--- fim/register_misspelt
        .core   fim, island=0
        .block  banks=0-3
        mmr     opp, mul
        end
#--- fim/column_too_high
        .core   fim, island=0
        .block  banks=0-3
        mmr     op, mul
        rop <- iosa[99]
        end
#--- fim/operation_unknown
        .core   fim, island=0
        .block  banks=0-3
        mmr     op, pow
        end
#--- fim/equals_for_an_arrow
        .core   fim, island=0
        .block  banks=0-3
        rop = iosa[0]
        end
#--- any/device_misspelt
        .device basic
#--- any/device_too_late
        .core   pe, row=3
        .device tiny
#--- any/core_misspelt
        .core   cpu
#--- any/core_forgotten
        .device tiny
        add     a0, a1, a2
#--- any/type_of_an_input
        .input  x, float, 4
#--- any/shape_in_brackets
        .input  x, int8, (4, 4)
#--- any/file_that_is_not_there
w:      .npy    "wieghts.npy"
#--- any/macro_argument_missing
        .core   cp
        .macro  push reg:req
        addi    sp, sp, -4
        sw      \reg, 0(sp)
        .endm
        push
#--- any/if_without_end
        .core   cp
        .if     1
        nop
#--- any/rept_without_end
        .core   cp
        .rept   3
        nop
#--- any/output_never_written
        .output y, int32, 8
        .core   pe, row=0
        .seq    s
        mac     base=0, acc=0
        .endseq
        config  ib=0, s
