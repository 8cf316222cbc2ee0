"""The profiler (seed 001): records a run, measures it, and says what to improve."""
