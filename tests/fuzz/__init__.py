"""Fuzzing: damaged inputs of several kinds. Tests run some, `python -m tests.fuzz` runs many."""
