#--- text_and_data
        nop
        .data
        .word   1
        .text
        ret
        .data
        .word   2
#--- rodata
        .section .rodata
        .word   1
        .text
        nop
#--- rodata_with_flags
        .section .rodata,"a",@progbits
        .word   1
        .section .rodata.x,"a"
        .word   2
        .section .rodata
        .word   3
#--- strings_to_be_merged
        .section .rodata.str1.1,"aMS",@progbits,1
        .string "abc"
        .text
        nop
#--- own_data_sections
        .section .data.a,"aw"
        .word   1
        .section .data.b,"aw",@progbits
        .word   2
        .section .data.a
        .word   3
        .data
        .word   4
#--- own_text_sections
        .section .text.f,"ax",@progbits
f:      nop
        .section .text.g,"ax",@progbits
g:      j       f
        .text
        ret
#--- name_in_quotes
        .section ".data"
        .word   1
        .section ".rodata.x","a"
        .word   2
#--- percent_type
        .section .data.x,"aw",%progbits
        .word   1
#--- bss_with_flags
        .section .bss.x,"aw",@nobits
        .space  8
        .text
        nop
#--- push_and_pop
        nop
        .pushsection .data
        .word   1
        .popsection
        ret
        .pushsection .data
        .word   2
        .popsection
#--- push_in_each_other
        .pushsection .data
        .word   1
        .pushsection .rodata
        .word   2
        .popsection
        .word   3
        .popsection
        nop
#--- push_with_flags
        nop
        .pushsection .data.q,"aw",@progbits
        .word   1
        .popsection
        ret
#--- push_with_subsection
        .data
        .word   1
        .text
        .pushsection .data, 1
        .word   2
        .popsection
        .data
        .word   3
#--- pop_without_push
        .popsection
#--- previous
        nop
        .data
        .word   1
        .previous
        ret
        .previous
        .word   2
#--- previous_of_section
        .section .rodata
        .word   1
        .section .data
        .word   2
        .previous
        .word   3
#--- previous_after_pop
        .data
        .word   1
        .pushsection .rodata
        .word   2
        .popsection
        .previous
        nop
#--- subsections
        .text   1
        ret
        .text   0
        nop
        .data   2
        .word   2
        .data   1
        .word   1
        .data
        .word   0
#--- subsection
        .word   1
        .subsection 2
        .word   3
        .subsection 1
        .word   2
        .subsection 0
        .word   4
#--- label_before_a_section
        .data
x:      .section .rodata
        .word   5
        .data
        .word   x - x, 6
#--- debug_sections
        nop
        .section .debug_info,"",@progbits
        .4byte  .Lend - .Lbegin
.Lbegin: .byte  1
.Lend:
        .section .debug_str,"MS",@progbits,1
        .string "producer"
        .text
        ret
#--- note
        nop
        .section .note.GNU-stack,"",@progbits
        .text
        ret
#--- comment_section
        .section .comment,"MS",@progbits,1
        .string "GCC"
        .text
        nop
#--- cfi
        .cfi_sections .debug_frame
f:
        .cfi_startproc
        addi    sp, sp, -16
        .cfi_def_cfa_offset 16
        .cfi_offset 1, -4
        .cfi_remember_state
        ret
        .cfi_restore_state
        .cfi_endproc
#--- file_and_loc
        .file   "x.c"
        .file   1 "x.c"
        nop
        .loc    1 5 3
        ret
#--- ident_and_attribute
        .ident  "GCC: (GNU) 12.2.0"
        .attribute unaligned_access, 0
        .attribute stack_align, 16
        nop
#--- options
        .option push
        .option norvc
        .option nopic
        .option norelax
        nop
        .option pop
#--- addrsig_is_llvm_s
        nop
        .addrsig
        .addrsig_sym x
#--- section_of_thread
        .section .tdata,"awT",@progbits
        .word   1
#--- flags_misspelt
        .section .data.x,"awq"
        .word   1
#--- group
        .section .data.g,"awG",@progbits,signature,comdat
        .word   1
        .text
        nop
#--- end
        nop
        .end
        what is not read
#--- end_in_a_conditional
        nop
        .if 1
        .end
#--- print
        .print  "nothing in the bytes"
        nop
#--- version_and_title
        .title  "a title"
        .sbttl  "more"
        .eject
        .psize  60, 80
        nop
