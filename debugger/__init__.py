"""The debugger without a screen: sessions, stops, points, expressions, going back.

| module | contents |
|---|---|
| `stops` | why a run stopped, as plain records |
| `places` | cores, units of them and sets of both: `pe[1,0].3` |
| `debuggee`, `interrupts` | the program on its device, its output; requests to stop |
| `history`, `stop_positions` | checkpoints; where steps have stopped |
| `expressions`, `grammar` | the assembler's expressions extended by state |
| `name_resolver`, `state_paths`, `element_path`, `values` | what names mean |
| `locations`, `where`, `source_code`, `call_stack` | addresses of source lines, and back |
| `point`, `point_checks`, `points`, `dprintf`, `events` | breakpoints, watches and events, as set |
| `monitor` | tests all points while a device runs, with the modules of the next three rows |
| `breakpoints`, `arrivals`, `catchpoints`, `state_events` | tests for breakpoints and events |
| `watch_set`, `watch_target`, `queue_delta`, `event_fields` | tests for watches |
| `hit_counter` | conditions, counts, which points stop |
| `runner` | runs the device in time slices, makes checkpoints |
| `stepping`, `line_steps`, `reverse` | counted steps, steps by lines, going back |
| `motion` | runs and steps of one debuggee, forward and back; each returns a `stops.StopRecord` |
| `raw_state` | registers as bits; changes of registers and memory as commands |
| `session` | the public session: all of the above as one class |

Most modules import only modules that are listed above them or in their row; no imports form a
circle (tests/contract/test_imports.py). The table omits small modules, and those that make the data
of the screen. docs/debugger-internals.md describes the design. Front ends (`commands`, `screen`,
`views`) use only records and the public members of `Session` (tests/contract/test_front_ends.py). A
front end calls `Session` from one worker thread; `Session.interrupt` is the only method that
another thread may call. The debugger has no code for particular cores: it takes names from the
tables of `isa` and from the state that `emu` declares.
"""
