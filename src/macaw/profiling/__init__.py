"""The profiler (seed 001): it records a run, computes metrics, and says what to improve."""
