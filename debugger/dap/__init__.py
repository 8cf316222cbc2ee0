"""The debugger as a server for editors: the Debug Adapter Protocol over a session.

| module | contents |
|---|---|
| `framing` | messages in a stream of bytes, also for the language server |
| `connection` | reads messages in a thread, sends responses and events |
| `arguments` | reads and checks the arguments of a request |
| `capabilities` | what `initialize` announces |
| `launch` | the values of the request `launch` |
| `threads` | cores as threads, frames by number |
| `breakpoints` | the points that the editor has set |
| `variables`, `inspection` | scopes, variables and their children; values as text |
| `memory` | bytes of memory, instructions |
| `sources` | source files, lines with code, targets of `goto` |
| `output` | the program's output as text |
| `stop_events` | the events that tell the editor of a stop |
| `progress` | events for a run that takes longer than a second |
| `own_requests` | the requests `macaw/queues`, `macaw/grid`, `macaw/why` |
| `target` | a loaded program: answers each request about it |
| `adapter` | one connection: answers requests that need no program, loads the program, runs it |
| `server` | serves standard input and output |

docs/dap.md is the user's page.
"""
