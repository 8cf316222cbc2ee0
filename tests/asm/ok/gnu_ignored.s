# Directives of compilers, debuggers and linkers: accepted with any operands, without effect.
        .core   cp
        .cfi_adjust_cfa_offset anything, @at all "1" )
        .cfi_b_key_frame anything, @at all "1" )
        .cfi_def_cfa anything, @at all "1" )
        .cfi_def_cfa_offset anything, @at all "1" )
        .cfi_def_cfa_register anything, @at all "1" )
        .cfi_endproc anything, @at all "1" )
        .cfi_escape anything, @at all "1" )
        .cfi_fde_data anything, @at all "1" )
        .cfi_gnu_args_size anything, @at all "1" )
        .cfi_inline_lsda anything, @at all "1" )
        .cfi_label anything, @at all "1" )
        .cfi_lsda anything, @at all "1" )
        .cfi_mte_tagged_frame anything, @at all "1" )
        .cfi_negate_ra_state anything, @at all "1" )
        .cfi_offset anything, @at all "1" )
        .cfi_personality anything, @at all "1" )
        .cfi_personality_id anything, @at all "1" )
        .cfi_register anything, @at all "1" )
        .cfi_rel_offset anything, @at all "1" )
        .cfi_remember_state anything, @at all "1" )
        .cfi_restore anything, @at all "1" )
        .cfi_restore_state anything, @at all "1" )
        .cfi_return_column anything, @at all "1" )
        .cfi_same_value anything, @at all "1" )
        .cfi_sections anything, @at all "1" )
        .cfi_signal_frame anything, @at all "1" )
        .cfi_startproc anything, @at all "1" )
        .cfi_undefined anything, @at all "1" )
        .cfi_val_encoded_addr anything, @at all "1" )
        .cfi_val_offset anything, @at all "1" )
        .cfi_window_save anything, @at all "1" )
        .addrsig anything, @at all "1" )
        .addrsig_sym anything, @at all "1" )
        .attribute anything, @at all "1" )
        .extern anything, @at all "1" )
        .gnu_attribute anything, @at all "1" )
        .ident anything, @at all "1" )
        .loc anything, @at all "1" )
        .loc_mark_labels anything, @at all "1" )
        .option anything, @at all "1" )
        .stabd anything, @at all "1" )
        .stabn anything, @at all "1" )
        .stabs anything, @at all "1" )
        .symver anything, @at all "1" )
        .variant_cc anything, @at all "1" )
        .hidden anything, @at all "1" )
        .internal anything, @at all "1" )
        .protected anything, @at all "1" )
        .version anything, @at all "1" )
        .file anything, @at all "1" )
        .line anything, @at all "1" )
        .ln anything, @at all "1" )
        .eject anything, @at all "1" )
        .nolist anything, @at all "1" )
        .psize anything, @at all "1" )
        .sbttl anything, @at all "1" )
        .title anything, @at all "1" )
        .text
.Lunused: .byte  1                # no warning: compilers write such labels
        .if 0
        .print  "assembled"
        .endif
        .byte   2
        .rep 2
        .byte 3
        .endr
        .irep x, 4, 5
        .byte \x
        .endr
        .irepc x, 67
        .byte \x
        .endr
        .if 0
        .byte 9
        .endc
        .end
        what follows is not read (
#! bytes .text.cp 01020303 04050607
