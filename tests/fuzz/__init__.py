"""Fuzzing: damaged inputs of four kinds. The tests run some, `python -m tests.fuzz` many."""
