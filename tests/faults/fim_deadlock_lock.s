# A lock whose owner has ended, and a consumer of what its producer would push.
#! stop deadlock: deadlock: cp at .*; fim\[0\] at 0x[0-9a-f]+ \(fim_deadlock_lock.s:9\) waits for the lock of buffer 0, block 0 has it \(block 1\); 2 columns in buffer 0 \(block 2\) since cycle \d+
        .device tiny
        .core   fim, island=0
        .block  banks=0
          lock
        end
        .block  banks=1
          lock
        end
        .block  banks=2-3
          pull  gio
        end
