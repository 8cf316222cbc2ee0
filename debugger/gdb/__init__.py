"""The debugger as a server for gdb: its remote serial protocol over a session.

| module | contents |
|---|---|
| `packets` | the framing of packets: checksums, escapes, bounds |
| `link` | the connection: acknowledges and reads packets in a thread, sends answers |
| `description` | the description of the device for gdb: registers, threads and memory as XML |
| `machine` | reads and changes registers and memory, as gdb numbers them |
| `points` | the breakpoints and watches that gdb has set |
| `motion` | continues, steps and goes back, and tells gdb why the program has stopped |
| `target` | a loaded program: answers each packet about it |
| `stub` | one connection: loads the program when gdb first asks for it |
| `server` | waits for gdb at a port, or serves standard input and output |

Threads are the cores that run and have RISC-V registers, cp and vc. For all other cores there is
`monitor`, which executes any command of the debugger. docs/gdb.md is the user's page.
"""
