"""The debugger's screen: a prompt-toolkit application over the same command lines as scripts.

| module | holds |
|---|---|
| `worker` | the thread that runs commands, and hands over frames |
| `control` | rows of panels as prompt-toolkit wants them |
| `completion` | completion and the palette |
| `keys` | the table of keys |
| `line_history` | the history of lines in a file |
| `application` | all of it together |
"""
