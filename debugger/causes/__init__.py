"""Causes: finds which core waits for which (`stalls`), and which steps made a value (`why`)."""
