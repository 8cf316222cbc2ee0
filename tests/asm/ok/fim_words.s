# Every word of a block once, with the ends of its operands.
        .device base
        .core   fim, island=0             #! section .fim.0 0x30800000 120 align 4
        block   0x0001                    #! bytes .fim.0 01000004
          act   0                         #! bytes .fim.0 0000000c
          act   4095                      #! bytes .fim.0 ff0f000c
          pre                             #! bytes .fim.0 00000010
          fim   3                         #! bytes .fim.0 0100c014
          fim   2, 31, -1, 32             #! bytes .fim.0 20f8bf14
          fim   n=0, col=4, inc=2, repeat=3 #! bytes .fim.0 03100814
          mmr   rz_slot, 15               #! bytes .fim.0 0f000085
          mmr   rz_step, 1                #! bytes .fim.0 01000086
          mmr   accumulate, 1             #! bytes .fim.0 01000083
          mmr   format, fp32              #! bytes .fim.0 01000084
          mmr   b7_end, 0x5fffffe0        #! bytes .fim.0 ffffffa6
          loop  65535                     #! bytes .fim.0 ffff0018
          loop  1                         #! bytes .fim.0 01000018
          endloop                         #! bytes .fim.0 0000001c
          endloop                         #! bytes .fim.0 0000001c
          push  rop, 7                    #! bytes .fim.0 17000020
          push  gio, buffer=1             #! bytes .fim.0 09000020
          pull  gio                       #! bytes .fim.0 08000024
          pull  rop, 2, all               #! bytes .fim.0 22000024
          lock                            #! bytes .fim.0 00000028
          unlock buffer=7                 #! bytes .fim.0 0700002c
          trace_begin 31                  #! bytes .fim.0 3f000030
          trace_end 31                    #! bytes .fim.0 1f000030
        end                               #! bytes .fim.0 00000008
        endall                            #! bytes .fim.0 00000000
next:   .block  banks=3                   #! bytes .fim.0 08000004
        .word   next                      #! bytes .fim.0 68008030
        end                               #! bytes .fim.0 00000008
        endall                            #! bytes .fim.0 00000000
