"""The debugger without a screen: sessions, stops, points, expressions, going back.

| module | holds |
|---|---|
| `session` | a program on a device: runs, steps, focus; each call returns a `stops.Stopped` |
| `stops` | why a run stopped, as plain records |
| `points` | breakpoints, watches and events inside the run loop |
| `events` | what `catch` knows |
| `expressions`, `grammar` | the assembler's expressions extended by state |
| `accessors` | names of state: `pe[1,0].3.q1.level`; from declared state and tables |
| `locations` | where to stop: `layer.s:12`, a symbol, `*0x10000` |
| `history` | checkpoints, and the way back |
| `backwards` | steps and runs in that direction |

Whoever builds upon it (commands, views, a screen) calls `Session` from one worker
thread; `Session.interrupt` alone may come from another. It knows no core: names come from
the tables of `isa` and from the state that `emu` declares.
"""
