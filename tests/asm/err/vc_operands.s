# Registers of vc: which are vectors, which are pairs, and how many lanes there are.
        .core   vc
        vadd.b  vr0, vr1, vr16            #! error 27-31: 'vr16' is no vector register | the registers are vr0 to vr15
        vadd.b  vr0, vr1, a2              #! error 27-29: 'a2' is no vector register | a vector register, vr0 to vr15
        add     a0, a1, vr2               #! error 25-28: undefined symbol 'vr2' | it is a register; a number is needed here
        pmac.u8 vr3, vr0, vr1, gr5        #! error 32-35: 'gr5' is no register for an order of 16 | a pair is named by its even register, tp
        pmac.s8 vr3, vr0, vr1, vr16       #! error 32-36: 'vr16' is no register for an order of 16 | the registers are vr0 to vr15
        pmac.u16 vr3, vr0, vr1, gr32      #! error 33-37: 'gr32' is no register for an order | the registers are gr0 to gr31
        pmac.u16 vr3, vr0, vr1, vr2, ac   #! error 38-40: pmac.u16 has no flag 'ac' | did you mean 'acc'?
        vext.d  a1, vr0, 0                #! error 17-19: 'a1' is no even register of a pair | a pair is named by its even register, a0
        vsplat.d vr0, s1                  #! error 23-25: 's1' is no even register of a pair | a pair is named by its even register, s0
        vext.b  a0, vr0, 16               #! error 26-28: lane: 16 is out of range, 0 to 15
        vins.w  vr0, a0, 4                #! error 26-27: lane: 4 is out of range, 0 to 3
        vslli.h vr0, vr1, 16              #! error 27-29: shamt: 16 is out of range, 0 to 15
        vwiden.b vr0, vr1, 2              #! error 28-29: half: 2 is out of range, 0 to 1
        vnarrow.h vr0, vr1, vr2, 16       #! error 34-36: shamt: 16 is out of range, 0 to 15
        vld     vr0, 2048(a0)             #! error 22-26: imm: 2048 is out of range, -2048 to 2047
        pmac.u8 vr3, vr0, vr1             #! error 9-30: pmac.u8 needs the operand rs3 | write pmac.u8 rd, rs1, rs2, rs3, [acc]
        vadd.d  vr0, vr1, vr2             #! error 9-15: vc has no instruction 'vadd.d' | did you mean 'vadd.w'?
        dma.wait zero                     #! error 9-17: vc has no instruction 'dma.wait' | cp has it; this part is of vc
        vadd    vr0, vr1, vr2             #! error 9-13: vc has no instruction 'vadd' | there are vadd.b, vadd.h, vadd.w, vadd.f16, vadd.f32
        pmac    vr3, vr0, vr1, vr2        #! error 9-13: vc has no instruction 'pmac' | there are pmac.u8, pmac.s8, pmac.u16, pmac.s16, pmac.s32, pmac.f16, pmac.f32, pmac.u32, pmac.gr.u8, pmac.gr.s8
