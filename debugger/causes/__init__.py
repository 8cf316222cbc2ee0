"""Finds causes: who waits for whom (`stalls`), and which steps made a value (`why`)."""
