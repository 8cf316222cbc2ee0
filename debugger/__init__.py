"""The debugger without a screen: sessions, stops, points, expressions, going back.

| module | holds |
|---|---|
| `stops` | why a run stopped, as plain records |
| `places` | cores, units of them and sets of both: `pe[1,0].3` |
| `debuggee`, `interrupts` | the program on its device, its output; requests to stop |
| `history`, `stop_positions` | checkpoints; where steps have stopped |
| `expressions`, `grammar` | the assembler's expressions extended by state |
| `name_resolver`, `state_paths`, `element_path`, `values` | what names mean |
| `locations`, `where`, `source_code`, `call_stack` | addresses of source lines, and back |
| `point`, `point_checks`, `points`, `dprintf`, `events` | breakpoints, watches and events, as set |
| `monitor` | the same at work while a device runs; made of the following |
| `breakpoints`, `arrivals`, `catchpoints`, `state_events` | breaks of cores; events |
| `watch_set`, `watch_target`, `queue_delta`, `event_fields` | watches |
| `hit_counter` | conditions, counts, which points stop |
| `runner` | drives the device: slices, checkpoints |
| `stepping`, `line_steps`, `reverse` | steps that are counted, steps by lines, the way back |
| `session` | all of it together; each call returns a `stops.StopRecord` |

Each imports only those listed above it, or beside it in the same group.
docs/debugger-internals.md has the whole. Commands, views and the screen call `Session` from one
worker thread; `Session.interrupt` alone may come from another. The debugger knows no core: names
come from the tables of `isa` and from the state that `emu` declares.
"""
