# A consumer of a buffer that nobody fills.
#! stop deadlock: deadlock: cp at 0x[0-9a-f]+ \(<default cp>:\d+\) waits for core.wait 0x100 since cycle \d+ \(fim\[0\] waits too\); fim\[0\] at 0x[0-9a-f]+ \(fim_deadlock_pull.s:6\) waits for a column in buffer 0 \(block 0\) since cycle \d+
        .device tiny
        .core   fim, island=0
        .block  banks=0
          pull  rop
        end
