"""The profiler (seed 001): records of a run, what they say, and what to do about it."""
