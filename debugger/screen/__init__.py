"""The debugger's screen: a prompt-toolkit application that executes command lines.

| module | contents |
|---|---|
| `worker` | the thread that executes commands and builds frames |
| `control` | the rows of panels as a prompt-toolkit control |
| `completion` | completion and the palette |
| `keys` | the table of keys |
| `line_history` | the history of lines in a file |
| `application` | the whole screen |
"""
