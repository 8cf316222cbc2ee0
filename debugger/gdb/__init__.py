"""The debugger as a server for gdb: its remote serial protocol over a session.

| module | contents |
|---|---|
| `packets` | the framing of packets: checksums, escapes, bounds |
| `link` | the connection: acknowledges and reads packets in a thread, sends answers |
| `description` | what gdb reads of the device: registers, threads and memory as XML |
| `machine` | registers and memory of the session in gdb's numbers |
| `points` | the breakpoints and watches that gdb has set |
| `motion` | continue, steps and going back, and the stops that they end in |
| `target` | a loaded program: answers each packet about it |
| `stub` | one connection: answers what needs no program, and loads it for the rest |
| `server` | waits for gdb at a port, or serves standard input and output |

Threads are the cores that run and have RISC-V registers, cp and vc. All other cores are reached by
`monitor`, which executes any command of the debugger. docs/gdb.md is the user's page.
"""
