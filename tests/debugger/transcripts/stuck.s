# stuck.s - one block gives a buffer two columns, another one waits for a third
        .device tiny
        .core   fim, island=0
        .block  banks=0
          mmr   b0_low, BUFFER
          mmr   b0_high, BUFFER + 16 * 32
          act   0
          push  rop
          push  rop
        end
        .block  banks=2
          pull  gio
          pull  gio
          pull  gio
        end
        .set    BUFFER, 0x40000000 + 3 * 64 * 1024
