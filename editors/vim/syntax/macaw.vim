" Made from the tables by `make docs`; what is changed here is lost.
if exists('b:current_syntax')
  finish
endif
syntax case match
syntax iskeyword @,48-57,_,.,$

syntax match macawMacro /\%([A-Za-z_$][A-Za-z0-9_.$]*\|\.[A-Za-z0-9_.$]\+\)/ contains=macawMnemonic,macawDirective nextgroup=macawOperands
syntax match macawAssigned /\%([A-Za-z_$][A-Za-z0-9_.$]*\|\.[A-Za-z0-9_.$]\+\)\ze[ \t]*=/ nextgroup=macawOperands
syntax match macawQuoted /"\%(\\.\|[^"\\]\)*"\ze\s*=/ nextgroup=macawOperands
syntax match macawQuoted /"\%(\\.\|[^"\\]\)*"\s*:/
syntax match macawLabel /\%(\%([A-Za-z_$][A-Za-z0-9_.$]*\|\.[A-Za-z0-9_.$]\+\)\|[0-9]\+\)\s*:/
syntax match macawMoved /\%([A-Za-z_$][A-Za-z0-9_.$]*\|\.[A-Za-z0-9_.$]\+\)\ze\%([ \t]*\[[^]]*\]\)\?[ \t]*<-/ nextgroup=macawMoves
syntax region macawMoves start=/[^;]/rs=s end=/$/ end=/^/ end=/;/me=s-1 contained contains=macawPlace,macawIndices,macawCalled,macawNumber,macawArgument,macawOperator,macawComment
syntax match macawPlace /\%([A-Za-z_$][A-Za-z0-9_.$]*\|\.[A-Za-z0-9_.$]\+\)/ contained
syntax match macawCalled /\%([A-Za-z_$][A-Za-z0-9_.$]*\|\.[A-Za-z0-9_.$]\+\)\ze[ \t]*(/ contained
syntax region macawIndices start=/\[/ end=/\]/ oneline contained contains=@macawOperand
syntax region macawOperands start=/[^;]/rs=s end=/$/ end=/^/ end=/;/me=s-1 contained contains=@macawOperand,macawComment
syntax keyword macawDirective contained .2byte .4byte .8byte .addrsig .addrsig_sym .align .array
syntax keyword macawDirective contained .ascii .asciz .attribute .balign .bfloat16 .block .bss .byte
syntax keyword macawDirective contained .cfi_adjust_cfa_offset .cfi_b_key_frame .cfi_def_cfa
syntax keyword macawDirective contained .cfi_def_cfa_offset .cfi_def_cfa_register .cfi_endproc
syntax keyword macawDirective contained .cfi_escape .cfi_fde_data .cfi_gnu_args_size
syntax keyword macawDirective contained .cfi_inline_lsda .cfi_label .cfi_lsda .cfi_mte_tagged_frame
syntax keyword macawDirective contained .cfi_negate_ra_state .cfi_offset .cfi_personality
syntax keyword macawDirective contained .cfi_personality_id .cfi_register .cfi_rel_offset
syntax keyword macawDirective contained .cfi_remember_state .cfi_restore .cfi_restore_state
syntax keyword macawDirective contained .cfi_return_column .cfi_same_value .cfi_sections
syntax keyword macawDirective contained .cfi_signal_frame .cfi_startproc .cfi_undefined
syntax keyword macawDirective contained .cfi_val_encoded_addr .cfi_val_offset .cfi_window_save .comm
syntax keyword macawDirective contained .core .data .dense .device .double .dword .eject .else
syntax keyword macawDirective contained .elseif .end .endc .endif .endlist .endm .endr .endseq .equ
syntax keyword macawDirective contained .equiv .eqv .err .error .exitm .extern .file .fill .float
syntax keyword macawDirective contained .float16 .global .globl .gnu_attribute .half .hidden .hint
syntax keyword macawDirective contained .hword .ident .if .ifb .ifc .ifdef .ifeq .ifeqs .ifge .ifgt
syntax keyword macawDirective contained .ifle .iflt .ifnb .ifnc .ifndef .ifne .ifnes .ifnotdef
syntax keyword macawDirective contained .incbin .include .input .insn .int .internal .irep .irepc
syntax keyword macawDirective contained .irp .irpc .lcomm .line .list .ln .loc .loc_mark_labels
syntax keyword macawDirective contained .local .long .loop .macro .nolist .npy .octa .option .org
syntax keyword macawDirective contained .output .p2align .popsection .previous .print .protected
syntax keyword macawDirective contained .psize .purgem .pushsection .quad .rep .rept .sbttl .section
syntax keyword macawDirective contained .seq .set .setting .short .single .size .skip .sleb128
syntax keyword macawDirective contained .space .sparse .stabd .stabn .stabs .step .stride .string
syntax keyword macawDirective contained .subsection .symver .text .then .tiles .title .type .types
syntax keyword macawDirective contained .uleb128 .variant_cc .version .view .warning .weak .word
syntax keyword macawDirective contained .zero
syntax keyword macawMnemonic contained add addi and andi auipc beq beqz bge bgeu bgez bgt bgtu bgtz
syntax keyword macawMnemonic contained ble bleu blez blt bltu bltz bne bnez call core.start
syntax keyword macawMnemonic contained core.wait csrc csrci csrr csrrc csrrci csrrs csrrsi csrrw
syntax keyword macawMnemonic contained csrrwi csrs csrsi csrw csrwi dispatch div divu dma.copy
syntax keyword macawMnemonic contained dma.wait ebreak ecall fence fence.tso fim.send j jal jalr jr
syntax keyword macawMnemonic contained jump la lb lbu lh lhu li lla lui lw mem.swap move mul mulh
syntax keyword macawMnemonic contained mulhsu mulhu mv neg nop not or ori rdcycle rdcycleh rdinstret
syntax keyword macawMnemonic contained rdinstreth rdtime rdtimeh rem remu ret sb sbreak scall seqz
syntax keyword macawMnemonic contained sext.b sext.h sgt sgtu sgtz sh sll slli slt slti sltiu sltu
syntax keyword macawMnemonic contained sltz snez sra srai srl srli sub sw tail trace_begin trace_end
syntax keyword macawMnemonic contained unimp xor xori zext.b zext.h
syntax keyword macawMnemonic contained add addi and andi auipc beq beqz bge bgeu bgez bgt bgtu bgtz
syntax keyword macawMnemonic contained ble bleu blez blt bltu bltz bne bnez call csrc csrci csrr
syntax keyword macawMnemonic contained csrrc csrrci csrrs csrrsi csrrw csrrwi csrs csrsi csrw csrwi
syntax keyword macawMnemonic contained div divu ebreak ecall fence fence.tso j jal jalr jr jump la
syntax keyword macawMnemonic contained lb lbu lh lhu li lla lui lw move mul mulh mulhsu mulhu mv neg
syntax keyword macawMnemonic contained nop not or ori pmac.f16 pmac.f32 pmac.gr.s8 pmac.gr.u8
syntax keyword macawMnemonic contained pmac.s16 pmac.s32 pmac.s8 pmac.u16 pmac.u32 pmac.u8 rdcycle
syntax keyword macawMnemonic contained rdcycleh rdinstret rdinstreth rdtime rdtimeh rem remu ret sb
syntax keyword macawMnemonic contained sbreak scall seqz sext.b sext.h sgt sgtu sgtz sh sll slli slt
syntax keyword macawMnemonic contained slti sltiu sltu sltz snez sra srai srl srli sub sw tail
syntax keyword macawMnemonic contained trace_begin trace_end unimp vabs.b vabs.f16 vabs.f32 vabs.h
syntax keyword macawMnemonic contained vabs.w vadd.b vadd.f16 vadd.f32 vadd.h vadd.w vceq.b vceq.f16
syntax keyword macawMnemonic contained vceq.f32 vceq.h vceq.w vcle.b vcle.f16 vcle.f32 vcle.h vcle.w
syntax keyword macawMnemonic contained vcleu.b vcleu.h vcleu.w vclt.b vclt.f16 vclt.f32 vclt.h
syntax keyword macawMnemonic contained vclt.w vcltu.b vcltu.h vcltu.w vcvt.f16.f32 vcvt.f32.f16
syntax keyword macawMnemonic contained vcvt.f32.w vcvt.w.f32 vdiv.f32 vexp.f32 vext.b vext.d
syntax keyword macawMnemonic contained vext.f16 vext.f32 vext.h vext.w vextu.b vextu.h vins.b vins.d
syntax keyword macawMnemonic contained vins.f16 vins.f32 vins.h vins.w vld vlds.b vlds.d vlds.h
syntax keyword macawMnemonic contained vlds.w vmax.b vmax.f16 vmax.f32 vmax.h vmax.w vmaxu.b vmaxu.h
syntax keyword macawMnemonic contained vmaxu.w vmin.b vmin.f16 vmin.f32 vmin.h vmin.w vminu.b
syntax keyword macawMnemonic contained vminu.h vminu.w vmov vmul.b vmul.f16 vmul.f32 vmul.h vmul.w
syntax keyword macawMnemonic contained vmulh.w vmulhu.w vnarrow.h vnarrow.w vnarrowu.h vnarrowu.w
syntax keyword macawMnemonic contained vneg.b vneg.f16 vneg.f32 vneg.h vneg.w vperm vsel vsll.b
syntax keyword macawMnemonic contained vsll.d vsll.h vsll.w vslli.b vslli.d vslli.h vslli.w vsplat.b
syntax keyword macawMnemonic contained vsplat.d vsplat.f16 vsplat.f32 vsplat.h vsplat.w vsqrt.f32
syntax keyword macawMnemonic contained vsra.b vsra.d vsra.h vsra.w vsrai.b vsrai.d vsrai.h vsrai.w
syntax keyword macawMnemonic contained vsrl.b vsrl.d vsrl.h vsrl.w vsrli.b vsrli.d vsrli.h vsrli.w
syntax keyword macawMnemonic contained vst vsts.b vsts.d vsts.h vsts.w vsub.b vsub.f16 vsub.f32
syntax keyword macawMnemonic contained vsub.h vsub.w vsum.b vsum.f16 vsum.f32 vsum.h vsum.w vsumu.b
syntax keyword macawMnemonic contained vsumu.h vsumu.w vwiden.b vwiden.h vwidenu.b vwidenu.h xor
syntax keyword macawMnemonic contained xori zext.b zext.h
syntax keyword macawMnemonic contained Set2dWindows SetCols SetDepth SetDilation SetDilationY
syntax keyword macawMnemonic contained SetIncrementUnit SetIterations SetKernel SetKernelY SetPad
syntax keyword macawMnemonic contained SetPadY SetRows SetRowsCols SetStride SetStrideY SetValid
syntax keyword macawMnemonic contained SetWindowHeight SetWindowWidth end_chain m_rd m_wr mv_mul
syntax keyword macawMnemonic contained mv_mul_inc s_wr trace_begin trace_end v_add_inc v_quantise
syntax keyword macawMnemonic contained v_rd v_rd_inc v_relu v_sigm v_softmax v_tanh v_wr v_wr_inc
syntax keyword macawMnemonic contained vv_a_sub_b vv_a_sub_b_inc vv_add vv_add_inc vv_b_sub_a
syntax keyword macawMnemonic contained vv_b_sub_a_inc vv_max vv_max_inc vv_mul vv_mul_inc
syntax keyword macawMnemonic contained act block end endall endloop fim lock loop mmr pre pull push
syntax keyword macawMnemonic contained trace_begin trace_end unlock
syntax keyword macawMnemonic contained config exe ld mac spu st trace_begin trace_end

syntax cluster macawOperand contains=macawSymbol,macawNamed,macawFunction,macawNumber,macawFloat,macawLocal,macawString,macawCharacter,macawArgument,macawOperator
syntax match macawOperator /[-+*/%~!&|^<>=]/ contained
syntax match macawSymbol /\%([A-Za-z_$][A-Za-z0-9_.$]*\|\.[A-Za-z0-9_.$]\+\)\%(@plt\)\?/ contained contains=macawRegister,macawWord
syntax match macawNamed /\%([A-Za-z_$][A-Za-z0-9_.$]*\|\.[A-Za-z0-9_.$]\+\)\ze[ \t]*=\%(=\)\@!/ contained
syntax match macawFunction /%[A-Za-z_][A-Za-z0-9_]*\ze\s*(/ contained
syntax match macawFunction /\%(sizeof\|load_address\|slot\|vec\|tile\)\ze\s*(/ contained
syntax match macawFloat /\%([0-9]\+\.[0-9]*\|\.[0-9]\+\|[0-9]\+[eE]\@=\)\%([eE][+-]\?[0-9]\+\)\?\%([A-Za-z0-9_.$]\)\@!/ contained
syntax match macawNumber /\%(0[xX]\x\+\|0[bB][01]\+\|[0-9]\+\)\%([A-Za-z0-9_.$]\)\@!/ contained
syntax match macawLocal /[0-9]\+[bf]\%([A-Za-z0-9_.$]\)\@!/ contained
syntax match macawArgument /\\\%([A-Za-z_.$][A-Za-z0-9_.$]*\|@\|()\|+\)/ contained
syntax match macawCharacter /'\%(\\\%(x\x\+\|[0-7]\{1,3}\|.\)\|[^\\]\)'\?/ contained
syntax match macawString /"\%(\\.\|[^"\\]\)*"\?/ contained contains=macawEscape
syntax match macawEscape /\\\%(x\x\+\|[0-7]\{1,3}\|.\)/ contained
syntax keyword macawRegister contained a0 a1 a2 a3 a4 a5 a6 a7 accumulate arrange b0_end b0_high
syntax keyword macawRegister contained b0_low b0_start b1_end b1_high b1_low b1_start b2_end b2_high
syntax keyword macawRegister contained b2_low b2_start b3_end b3_high b3_low b3_start b4_end b4_high
syntax keyword macawRegister contained b4_low b4_start b5_end b5_high b5_low b5_start b6_end b6_high
syntax keyword macawRegister contained b6_low b6_start b7_end b7_high b7_low b7_start cols cycle
syntax keyword macawRegister contained cycleh depth dilation dilation_y e_array0 e_array1 e_array2
syntax keyword macawRegister contained e_array3 e_bus0 e_bus1 e_bus2 e_bus3 e_cu0 e_cu1 e_cu2 e_cu3
syntax keyword macawRegister contained e_rd0 e_rd1 e_rd2 e_rd3 e_rd_blocked0 e_rd_blocked1
syntax keyword macawRegister contained e_rd_blocked2 e_rd_blocked3 e_wr0 e_wr1 e_wr2 e_wr3
syntax keyword macawRegister contained e_wr_blocked0 e_wr_blocked1 e_wr_blocked2 e_wr_blocked3
syntax keyword macawRegister contained e_xwr0 e_xwr1 e_xwr2 e_xwr3 e_xwr_partial0 e_xwr_partial1
syntax keyword macawRegister contained e_xwr_partial2 e_xwr_partial3 format fp gio gp gr0 gr1 gr10
syntax keyword macawRegister contained gr11 gr12 gr13 gr14 gr15 gr16 gr17 gr18 gr19 gr2 gr20 gr21
syntax keyword macawRegister contained gr22 gr23 gr24 gr25 gr26 gr27 gr28 gr29 gr3 gr30 gr31 gr4 gr5
syntax keyword macawRegister contained gr6 gr7 gr8 gr9 height instret instreth iterations kernel
syntax keyword macawRegister contained kernel_y mhartid op pad pad_y ra rop row0 row1 row2 row3 rows
syntax keyword macawRegister contained rz rz_shift rz_slot rz_step s0 s1 s10 s11 s2 s3 s4 s5 s6 s7
syntax keyword macawRegister contained s8 s9 sp stride stride_y t0 t1 t2 t3 t4 t5 t6 t_begin0
syntax keyword macawRegister contained t_begin1 t_begin2 t_begin3 t_cu_begin0 t_cu_begin1
syntax keyword macawRegister contained t_cu_begin2 t_cu_begin3 t_cu_end0 t_cu_end1 t_cu_end2
syntax keyword macawRegister contained t_cu_end3 t_end0 t_end1 t_end2 t_end3 t_rd_begin0 t_rd_begin1
syntax keyword macawRegister contained t_rd_begin2 t_rd_begin3 t_rd_end0 t_rd_end1 t_rd_end2
syntax keyword macawRegister contained t_rd_end3 t_wr_begin0 t_wr_begin1 t_wr_begin2 t_wr_begin3
syntax keyword macawRegister contained t_wr_end0 t_wr_end1 t_wr_end2 t_wr_end3 time timeh tp
syntax keyword macawRegister contained trace_begin trace_loops trace_lost trace_mode trace_next
syntax keyword macawRegister contained trace_num trace_overhead trace_spill trace_spill_end
syntax keyword macawRegister contained trace_status trace_step transpose unit valid vr0 vr1 vr10
syntax keyword macawRegister contained vr11 vr12 vr13 vr14 vr15 vr2 vr3 vr4 vr5 vr6 vr7 vr8 vr9
syntax keyword macawRegister contained width x0 x1 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x2 x20
syntax keyword macawRegister contained x21 x22 x23 x24 x25 x26 x27 x28 x29 x3 x30 x31 x4 x5 x6 x7 x8
syntax keyword macawRegister contained x9 zero
syntax keyword macawWord contained 2 4 AddSubVrf0 AddSubVrf1 Dram InitialVrf MatrixRf MulVrf NetInQ
syntax keyword macawWord contained NetOutQ STT_FUNC STT_NOTYPE STT_OBJECT acc activation activations
syntax keyword macawWord contained add aim all balance base bfloat16 both broadcast bw_a10 bw_s10
syntax keyword macawWord contained bw_s5 by_cluster by_pe compress cp data ddr4_dimm default dense
syntax keyword macawWord contained dma fim float16 float32 float64 fp16 fp32 func function hbm2_pim
syntax keyword macawWord contained int16 int32 int64 int8 large last max nnp none nonsf notype
syntax keyword macawWord contained object pe psums records reduce relu requantise rq scalar_add
syntax keyword macawWord contained scalar_max scale scales sequence sfu shift sigmoid sliced sq
syntax keyword macawWord contained start sw table tanh tiny uint16 uint32 uint8 vc weights

syntax match macawComment +\%(#\|//\).*+
syntax region macawComment start=+/\*+ end=+\*/+
syntax sync ccomment macawComment

highlight default link macawComment Comment
highlight default link macawLabel Label
highlight default link macawDirective PreProc
highlight default link macawMnemonic Statement
highlight default link macawMacro Function
highlight default link macawAssigned Identifier
highlight default link macawRegister Identifier
highlight default link macawWord Constant
highlight default link macawNamed Type
highlight default link macawFunction Function
highlight default link macawNumber Number
highlight default link macawFloat Float
highlight default link macawLocal Label
highlight default link macawString String
highlight default link macawQuoted String
highlight default link macawEscape SpecialChar
highlight default link macawCharacter Character
highlight default link macawArgument Special
highlight default link macawOperator Operator
highlight default link macawMoved Identifier
highlight default link macawPlace Identifier
highlight default link macawCalled Function

let b:current_syntax = 'macaw'
