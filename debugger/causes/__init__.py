"""Causes: who waits for whom (`stalls`), and what made a value."""
