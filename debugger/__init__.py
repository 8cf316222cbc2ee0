"""The debugger without a screen: sessions, stops, points, expressions, going back.

| module | holds |
|---|---|
| `session` | a program on a device: runs, steps, focus; each call returns a `stops.Stopped` |
| `stops` | why a run stopped, as plain records |
| `points` | breakpoints, watches and events, as they are set |
| `watching`, `changes` | the same at work while a device runs |
| `expressions`, `grammar` | the assembler's expressions extended by state |
| `values` | memory, and numbers as types hold them |
| `naming`, `accessors`, `chains`, `places` | names of state, from declared state and tables |
| `locations` | where to stop: `layer.s:12`, a symbol, `*0x10000` |
| `history` | checkpoints, and the way back |
| `backwards` | where a core was before, the last hit of a point |
| `stepping` | steps of cores and units that are counted |
| `records` | where cores are, what they wait for, what a stop of the device says |
| `lines` | steps by lines of the source, calls and returns |
| `runner` | drives the device: slices, checkpoints, interrupts |

docs/debugger-internals.md has the whole. Whoever builds upon it (commands, views, a screen)
calls `Session` from one worker thread; `Session.interrupt` alone may come from another. It knows
no core: names come from the tables of `isa` and from the state that `emu` declares.
"""
