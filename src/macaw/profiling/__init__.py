"""The profiler (seed 001): it records a run, measures it, and says what to improve."""
